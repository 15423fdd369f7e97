import type { AppContext } from '@model-gateway/server-process';
import {
  createUpstreamWatch,
  createUsageCounts,
  createVideoNotifications,
} from '@model-gateway/inference';
import type { Part, Tracing } from '@model-gateway/kernel';
import { createPointsCount } from '@model-gateway/recorder';
import type { Router } from '@model-gateway/router';
import type { VideoWorkerConfig } from './config.ts';
import { createMoveJob } from './move-job.ts';
import { createFail } from './steps/fail.ts';
import { createPoll } from './steps/poll.ts';
import { createSettle } from './steps/settle.ts';
import { createSubmit, SUBMISSION_MS_MAX } from './steps/submit.ts';
import { createVideoPace } from './video-pace.ts';
import { createVideoQueue, type MoveJob } from './video-queue.ts';
import { createVideoSweep } from './video-sweep.ts';

/** More than a submission can take, whatever the clocks say. */
const SUBMITTING_MS = SUBMISSION_MS_MAX + 10_000;

/** Carries video jobs through their lives: the queue, the sweep that feeds it, and the steps. */
export function createVideoJobRunner(
  config: VideoWorkerConfig,
  { database, bus, clock, log, metrics, tracing }: AppContext,
  router: Pick<Router, 'choose' | 'use'>,
): Part {
  const { videoJobs: jobs } = database;
  const { pointsPerUsd } = config;
  const stopping = new AbortController();
  const pace = createVideoPace({
    pollMs: config.videoPollMs,
    timeoutSecs: config.videoTimeoutSecs,
    clock,
  });
  const notifications = createVideoNotifications({ channels: bus.channels, log });
  const { admission } = bus;
  const watch = createUpstreamWatch({ metrics, tracing });
  const fail = createFail({ jobs, notifications });
  const settle = createSettle({
    database,
    admission,
    notifications,
    pointsPerUsd,
    count: createUsageCounts(metrics),
    paid: createPointsCount(metrics),
    clock,
    log,
  });
  const submit = createSubmit({ jobs, router, watch, notifications, fail, pace, log });
  const { signal } = stopping;
  const asking = { jobs, router, watch, notifications, settle, fail, pace, clock };
  const poll = createPoll({ ...asking, stopping: signal });
  const queue = createVideoQueue({
    redisUrl: config.queueRedisUrl,
    prefix: `${config.redisPrefix}queue`,
    concurrency: config.videoConcurrency,
    move: traced(createMoveJob({ jobs, notifications, submit, poll, pace }), tracing),
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

/** Each step is a trace of its own: jobs outlive the requests that made them. */
function traced(move: MoveJob, tracing: Tracing | undefined): MoveJob {
  if (tracing === undefined) return move;
  return async (turn) => {
    const attributes = { 'service.video.job_id': turn.jobId };
    const span = tracing.begin({ name: 'video step', kind: 'internal', attributes });
    try {
      const next = await span.run(() => move(turn));
      span.end();
      return next;
    } catch (error) {
      span.end('step_failed');
      throw error;
    }
  };
}
