import type {
  FinishedVideo,
  UpstreamWatch,
  VideoJobStore,
  VideoNotifications,
  VideoPoll,
} from '@model-gateway/inference';
import type { Clock } from '@model-gateway/kernel';
import { UpstreamFailure, type Backend, type Router } from '@model-gateway/router';
import type { VideoPace } from '../video-pace.ts';
import type { NextTurn, StepMemo } from '../video-queue.ts';
import type { FailJob } from './fail.ts';
import type { SettleJob } from './settle.ts';

/** Asks the upstream how a running job stands, once. */
export type PollJob = (poll: VideoPoll, memo: StepMemo) => Promise<NextTurn | undefined>;

interface PollDependencies {
  readonly jobs: Pick<VideoJobStore, 'advance'>;
  readonly router: Pick<Router, 'use'>;
  readonly watch: UpstreamWatch;
  readonly notifications: Pick<VideoNotifications, 'progress'>;
  readonly settle: SettleJob;
  readonly fail: FailJob;
  readonly pace: VideoPace;
  readonly clock: Clock;
  /** Aborted when this worker stops: others go on. */
  readonly stopping: AbortSignal;
  /** How long an answer may take. */
  readonly answerMs?: number;
}

const ANSWER_MS = 10_000;
/** An upstream that does not answer keeps others waiting: for so long only one job at a time waits for it. */
const SUSPECT_MS = 30_000;
/** So many answers in a row that cannot be understood are no accident. */
const UNREADABLE_MAX = 5;
const RUNNING_PROGRESS_MAX = 99;

type Standing =
  | { readonly state: 'pending'; readonly progress: number | undefined }
  | { readonly state: 'done'; readonly video: FinishedVideo }
  | { readonly state: 'failed'; readonly error: string };

export function createPoll(dependencies: PollDependencies): PollJob {
  const { jobs, router, watch, notifications, settle, fail, pace, clock, stopping } = dependencies;
  const { answerMs = ANSWER_MS } = dependencies;
  /** Until when backends that did not answer get one question at a time. */
  const suspectUntil = new Map<string, number>();
  const asking = new Map<string, number>();

  function isTaken(backend: string): boolean {
    return (suspectUntil.get(backend) ?? 0) > clock.now() && (asking.get(backend) ?? 0) > 0;
  }

  async function ask(backend: Backend, taskId: string): Promise<Standing> {
    if (backend.queryVideo === undefined || backend.resolveVideo === undefined) {
      throw notVideo(backend.name);
    }
    const silent = AbortSignal.timeout(answerMs);
    const signal = AbortSignal.any([stopping, silent]);
    try {
      const task = await backend.queryVideo(taskId, signal);
      if (task.state !== 'done') return task;
      const { fileId, width, height } = task;
      const { url } = await backend.resolveVideo(fileId, signal);
      return { state: 'done', video: { url, width, height } };
    } catch (error) {
      if (!silent.aborted || stopping.aborted) throw error;
      suspectUntil.set(backend.name, clock.now() + SUSPECT_MS);
      throw silence(answerMs);
    }
  }

  async function askBackend({ backend: name, taskId }: VideoPoll): Promise<Standing> {
    const used = router.use(name);
    if (used === undefined) throw notRegistered(name);
    asking.set(name, (asking.get(name) ?? 0) + 1);
    const call = watch.begin('video', used.backend, undefined);
    try {
      const standing = await call.run(() => ask(used.backend, taskId));
      call.end();
      return standing;
    } catch (failure) {
      if (stopping.aborted) call.leave();
      else call.fail(failure);
      throw failure;
    } finally {
      asking.set(name, (asking.get(name) ?? 1) - 1);
      used.release();
    }
  }

  async function waitOrFail(poll: VideoPoll, next: NextTurn, reason: string) {
    const leftMs = pace.leftMs(poll.startedAt);
    if (leftMs > 0) return { ...next, afterMs: Math.min(next.afterMs, leftMs) };
    await fail(poll.id, `${pace.overText}: ${reason}`);
    return undefined;
  }

  async function afterFailure(poll: VideoPoll, memo: StepMemo, failure: UpstreamFailure) {
    const unreadable = failure.wasUnreadable ? (memo.unreadable ?? 0) + 1 : 0;
    if (!failure.isBackendAtFault || unreadable >= UNREADABLE_MAX) {
      await fail(poll.id, failure.message);
      return undefined;
    }
    return waitOrFail(poll, pace.afterFailure({ ...memo, unreadable }), failure.message);
  }

  async function afterPending(poll: VideoPoll, told: number | undefined) {
    const progress = Math.min(Math.max(Math.floor(told ?? 0), 0), RUNNING_PROGRESS_MAX);
    if (await jobs.advance(poll.id, progress)) await notifications.progress(poll.id, progress);
    return waitOrFail(poll, pace.next, 'the upstream is not done');
  }

  return async (poll, memo) => {
    if (isTaken(poll.backend)) return { afterMs: pace.pollMs, memo };
    let standing: Standing;
    try {
      standing = await askBackend(poll);
    } catch (failure) {
      if (stopping.aborted) return { afterMs: 0, memo };
      if (failure instanceof UpstreamFailure) return afterFailure(poll, memo, failure);
      throw failure;
    }
    if (standing.state === 'pending') return afterPending(poll, standing.progress);
    if (standing.state === 'failed') await fail(poll.id, standing.error);
    else await settle(poll.id, standing.video);
    return undefined;
  };
}

const silence = (answerMs: number): UpstreamFailure =>
  new UpstreamFailure(`the upstream did not answer within ${answerMs} ms`, {
    isBackendAtFault: true,
  });

const notVideo = (name: string): UpstreamFailure =>
  new UpstreamFailure(`backend '${name}' does not support video`, { isBackendAtFault: false });

/** It may be registered again. */
const notRegistered = (name: string): UpstreamFailure =>
  new UpstreamFailure(`backend '${name}' is not registered`, { isBackendAtFault: true });
