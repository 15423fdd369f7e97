import type { AppContext } from '@model-gateway/server-process';
import {
  createUpstreamTelemetry,
  createUsageCounts,
  createVideoNotifications,
} from '@model-gateway/inference';
import type { Part, Tracing } from '@model-gateway/kernel';
import { createPointsCount } from '@model-gateway/recorder';
import type { Router } from '@model-gateway/router';
import { queueConnectionOf, type VideoWorkerConfig } from './config.ts';
import { createRunJobStep } from './run-job-step.ts';
import { createBill } from './steps/bill.ts';
import { createCancelTask } from './steps/cancel-task.ts';
import { createCancel } from './steps/cancel.ts';
import { createFail } from './steps/fail.ts';
import { createPoll } from './steps/poll.ts';
import { createSettle } from './steps/settle.ts';
import { createSubmit, SUBMISSION_MS_MAX } from './steps/submit.ts';
import { createVideoTiming } from './video-timing.ts';
import { createJobQueue, type RunJobStep } from './job-queue.ts';
import { createVideoSweep } from './video-sweep.ts';

/** Longer than a submission can take, with a margin for clock differences. */
const SUBMITTING_MS = SUBMISSION_MS_MAX + 10_000;

/** Runs video jobs: the queue, the sweep that fills it, and the steps. */
export function createVideoJobRunner(
  config: VideoWorkerConfig,
  { database, bus, clock, log, metrics, tracing }: AppContext,
  router: Pick<Router, 'choose' | 'use'>,
): Part {
  const { videoJobs: jobs } = database;
  const { pointsPerUsd } = config;
  const stopping = new AbortController();
  const timing = createVideoTiming({
    pollMs: config.videoPollMs,
    timeoutSecs: config.videoTimeoutSecs,
    clock,
  });
  const notifications = createVideoNotifications({ channels: bus.channels, log });
  const { admission } = bus;
  const telemetry = createUpstreamTelemetry({ metrics, tracing });
  const fail = createFail({ jobs, admission, notifications, log });
  const bill = createBill({
    database,
    admission,
    pointsPerUsd,
    count: createUsageCounts(metrics),
    paid: createPointsCount(metrics),
    clock,
    log,
  });
  const settle = createSettle({ bill, notifications });
  const submit = createSubmit({ jobs, router, telemetry, notifications, fail, timing, log });
  const { signal } = stopping;
  const cancelTask = createCancelTask({ router, telemetry, stopping: signal });
  const pollDependencies = { jobs, router, telemetry, notifications, settle, fail, timing, clock };
  const poll = createPoll({ ...pollDependencies, cancelTask, stopping: signal });
  const cancel = createCancel({ jobs, cancelTask, bill, timing, log, stopping: signal });
  const queue = createJobQueue({
    queueName: 'video',
    redis: queueConnectionOf(config),
    concurrency: config.videoConcurrency,
    runStep: traced(
      createRunJobStep({ jobs, notifications, submit, poll, cancel, timing }),
      tracing,
    ),
    metrics,
    log,
  });
  const sweep = createVideoSweep({
    jobs,
    queue,
    channels: bus.channels,
    submittingMs: SUBMITTING_MS,
    log,
  });
  return {
    name: 'video-jobs',
    async start() {
      await queue.start();
      await sweep.start();
    },
    async stop() {
      stopping.abort();
      await sweep.stop();
      await queue.stop();
    },
  };
}

/** Each step is a separate trace: jobs outlive the requests that created them. */
function traced(runStep: RunJobStep, tracing: Tracing | undefined): RunJobStep {
  if (tracing === undefined) return runStep;
  return async (step) => {
    const attributes = { 'service.video.job_id': step.jobId };
    const span = tracing.begin({ name: 'video step', kind: 'internal', attributes });
    try {
      const next = await span.run(() => runStep(step));
      span.end();
      return next;
    } catch (error) {
      span.end('step_failed');
      throw error;
    }
  };
}
