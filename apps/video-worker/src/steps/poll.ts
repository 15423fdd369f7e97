import type {
  FinishedVideo,
  UpstreamTelemetry,
  VideoJobStore,
  VideoNotifications,
  VideoPoll,
} from '@model-gateway/inference';
import { abortAfter, type Clock } from '@model-gateway/kernel';
import { UpstreamFailure, type Backend, type Router } from '@model-gateway/router';
import type { VideoTiming } from '../video-timing.ts';
import type { NextStep, StepMemo } from '../job-queue.ts';
import type { CancelTask } from './cancel-task.ts';
import { failedUpstream, jobTimedOut, type FailJob, type JobFailure } from './fail.ts';
import type { SettleJob } from './settle.ts';

/** Queries the upstream of a running job once. */
export type PollJob = (poll: VideoPoll, memo: StepMemo) => Promise<NextStep | undefined>;

interface PollDependencies {
  readonly jobs: Pick<VideoJobStore, 'advance'>;
  readonly router: Pick<Router, 'use'>;
  readonly telemetry: UpstreamTelemetry;
  readonly notifications: Pick<VideoNotifications, 'progress'>;
  readonly settle: SettleJob;
  readonly fail: FailJob;
  readonly cancelTask: CancelTask;
  readonly timing: VideoTiming;
  readonly clock: Clock;
  /** Aborted when this worker stops: other workers continue. */
  readonly stopping: AbortSignal;
  /** How long a query may take. */
  readonly queryTimeoutMs?: number;
}

const QUERY_TIMEOUT_MS = 10_000;
/** For this time after a timeout, an upstream gets one query at a time, so that it does not block other jobs. */
const SLOW_MS = 30_000;
/** A job fails after this many consecutive responses that cannot be parsed. */
const UNREADABLE_MAX = 5;
const RUNNING_PROGRESS_MAX = 99;

type TaskState =
  | { readonly state: 'pending'; readonly progress: number | undefined }
  | { readonly state: 'done'; readonly video: FinishedVideo }
  | { readonly state: 'failed'; readonly error: string };

export function createPoll(dependencies: PollDependencies): PollJob {
  const { jobs, router, telemetry, notifications, settle, fail, timing, clock, stopping } =
    dependencies;
  const { cancelTask, queryTimeoutMs = QUERY_TIMEOUT_MS } = dependencies;
  /** Until when a slow backend gets one query at a time. */
  const slowUntil = new Map<string, number>();
  const inFlight = new Map<string, number>();

  function isBusy(backend: string): boolean {
    return (slowUntil.get(backend) ?? 0) > clock.now() && (inFlight.get(backend) ?? 0) > 0;
  }

  async function queryTask(backend: Backend, taskId: string): Promise<TaskState> {
    if (backend.queryVideo === undefined || backend.resolveVideo === undefined) {
      throw notVideo(backend.name);
    }
    const query = backend.queryVideo.bind(backend);
    const resolve = backend.resolveVideo.bind(backend);
    return abortAfter(queryTimeoutMs, stopping, async (signal) => {
      try {
        const task = await query(taskId, signal);
        if (task.state !== 'done') return task;
        const { fileId, width, height } = task;
        const { url } = await resolve(fileId, signal);
        return { state: 'done', video: { url, width, height } };
      } catch (error) {
        if (!signal.aborted || stopping.aborted) throw error;
        slowUntil.set(backend.name, clock.now() + SLOW_MS);
        throw timedOut(queryTimeoutMs);
      }
    });
  }

  async function queryBackend({ backend: name, taskId }: VideoPoll): Promise<TaskState> {
    const used = router.use(name);
    if (used === undefined) throw notRegistered(name);
    inFlight.set(name, (inFlight.get(name) ?? 0) + 1);
    const call = telemetry.begin('video', used.backend, undefined);
    try {
      const task = await call.run(() => queryTask(used.backend, taskId));
      call.end();
      return task;
    } catch (failure) {
      if (stopping.aborted) call.leave();
      else call.fail(failure);
      throw failure;
    } finally {
      inFlight.set(name, (inFlight.get(name) ?? 1) - 1);
      used.release();
    }
  }

  async function waitOrFail(poll: VideoPoll, next: NextStep, why: Omit<JobFailure, 'code'>) {
    const remainingMs = timing.remainingMs(poll.startedAt);
    if (remainingMs > 0) return { ...next, afterMs: Math.min(next.afterMs, remainingMs) };
    await fail(poll.id, jobTimedOut(timing, why));
    // The job is not billed any more, but the upstream would charge for the video.
    await cancelTask(poll);
    return undefined;
  }

  async function afterFailure(poll: VideoPoll, memo: StepMemo, failure: UpstreamFailure) {
    const unreadable = failure.wasUnreadable ? (memo.unreadable ?? 0) + 1 : 0;
    if (!failure.isBackendAtFault || unreadable >= UNREADABLE_MAX) {
      await fail(poll.id, failedUpstream(failure));
      return undefined;
    }
    return waitOrFail(poll, timing.afterFailure({ ...memo, unreadable }), failedUpstream(failure));
  }

  async function afterPending(poll: VideoPoll, reported: number | undefined) {
    const progress = Math.min(Math.max(Math.floor(reported ?? 0), 0), RUNNING_PROGRESS_MAX);
    if (await jobs.advance(poll.id, progress)) await notifications.progress(poll.id, progress);
    return waitOrFail(poll, timing.next, { message: 'the upstream has not finished' });
  }

  return async (poll, memo) => {
    if (isBusy(poll.backend)) return { afterMs: timing.pollMs, memo };
    let task: TaskState;
    try {
      task = await queryBackend(poll);
    } catch (failure) {
      if (stopping.aborted) return { afterMs: 0, memo };
      if (failure instanceof UpstreamFailure) return afterFailure(poll, memo, failure);
      throw failure;
    }
    if (task.state === 'pending') return afterPending(poll, task.progress);
    if (task.state === 'failed') {
      await fail(poll.id, { code: 'generation_failed', message: task.error });
    } else await settle(poll.id, task.video);
    return undefined;
  };
}

const timedOut = (timeoutMs: number): UpstreamFailure =>
  new UpstreamFailure(`the upstream did not answer within ${timeoutMs} ms`, {
    isBackendAtFault: true,
  });

const notVideo = (name: string): UpstreamFailure =>
  new UpstreamFailure(`backend '${name}' does not support video`, { isBackendAtFault: false });

/** The backend may be registered again, so this is retried. */
const notRegistered = (name: string): UpstreamFailure =>
  new UpstreamFailure(`backend '${name}' is not registered`, { isBackendAtFault: true });
