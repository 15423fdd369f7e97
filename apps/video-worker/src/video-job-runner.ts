import type { AppContext } from '@model-gateway/host';
import { createVideoNotifications } from '@model-gateway/inference';
import type { Part } from '@model-gateway/kernel';
import type { Router } from '@model-gateway/router';
import type { VideoWorkerConfig } from './config.ts';
import { createMoveJob } from './move-job.ts';
import { createFail } from './steps/fail.ts';
import { createPoll } from './steps/poll.ts';
import { createSettle } from './steps/settle.ts';
import { createSubmit, SUBMISSION_MS_MAX } from './steps/submit.ts';
import { createVideoPace } from './video-pace.ts';
import { createVideoQueue } from './video-queue.ts';
import { createVideoSweep } from './video-sweep.ts';

/** More than a submission can take, whatever the clocks say. */
const SUBMITTING_MS = SUBMISSION_MS_MAX + 10_000;

/** Carries video jobs through their lives: the queue, the sweep that feeds it, and the steps. */
export function createVideoJobRunner(
  config: VideoWorkerConfig,
  { database, bus, clock, log, metrics }: AppContext,
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
  const fail = createFail({ jobs, notifications });
  const settle = createSettle({ database, admission, notifications, pointsPerUsd, clock, log });
  const submit = createSubmit({ jobs, router, notifications, fail, pace, log });
  const { signal } = stopping;
  const asking = { jobs, router, notifications, settle, fail, pace, clock, stopping: signal };
  const queue = createVideoQueue({
    redisUrl: config.queueRedisUrl,
    prefix: `${config.redisPrefix}queue`,
    concurrency: config.videoConcurrency,
    move: createMoveJob({ jobs, notifications, submit, poll: createPoll(asking), pace }),
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
