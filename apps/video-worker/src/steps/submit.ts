import { ServiceError } from '@model-gateway/contracts';
import {
  upstreamVideo,
  type UpstreamTelemetry,
  type VideoJobStore,
  type VideoNotifications,
  type VideoWork,
} from '@model-gateway/inference';
import { describeError, type Log } from '@model-gateway/kernel';
import { outcomeOf, UpstreamFailure, type Lease, type Router } from '@model-gateway/router';
import type { VideoTiming } from '../video-timing.ts';
import type { NextStep, StepMemo } from '../job-queue.ts';
import { failedUpstream, jobTimedOut, type FailJob, type JobFailure } from './fail.ts';

/** Submits a queued job to an upstream. */
export type SubmitJob = (work: VideoWork, memo: StepMemo) => Promise<NextStep | undefined>;

interface SubmitDependencies {
  readonly jobs: Pick<
    VideoJobStore,
    'images' | 'startSubmission' | 'undoSubmission' | 'begin' | 'addCancelledTask'
  >;
  readonly router: Pick<Router, 'choose'>;
  readonly telemetry: UpstreamTelemetry;
  readonly notifications: Pick<VideoNotifications, 'progress'>;
  readonly fail: FailJob;
  readonly timing: VideoTiming;
  readonly log: Log;
}

/** The longest submission: an older one that has not finished was abandoned. */
export const SUBMISSION_MS_MAX = 60_000;

export function createSubmit(dependencies: SubmitDependencies): SubmitJob {
  const { jobs, router, telemetry, notifications, fail, timing, log } = dependencies;

  /**
   * The lease, or why there is none now. After an earlier submission only the same backend is used: it creates no second
   * task for the same key.
   */
  async function choose(work: VideoWork): Promise<Lease | string> {
    const { model, resolvedModel, backend, order, allowedModels: allowed } = work;
    const unserved = `no healthy video-capable backend serves the model: ${model}`;
    const options = {
      resolved: resolvedModel,
      capability: 'video',
      provider: backend ?? order.provider,
      ...(allowed !== null && {
        allows: ({ served }: { readonly served: string }) => allowed.includes(served),
      }),
    } as const;
    const lease = await router.choose(model, options).catch((error: unknown) => {
      if (!(error instanceof ServiceError)) throw error;
      return error.code === 'rate_limit_exceeded' ? error.message : unserved;
    });
    if (typeof lease === 'string') return lease;
    if (backend === null || lease.backend.name === backend) return lease;
    await lease.settle('neutral');
    return unserved;
  }

  async function waitOrFail(work: VideoWork, memo: StepMemo, why: Omit<JobFailure, 'code'>) {
    if (!timing.isExpired(work.createdAt)) return timing.afterFailure(memo);
    await fail(work.id, jobTimedOut(timing, why));
    return undefined;
  }

  async function begin(jobId: string, taskId: string): Promise<NextStep | undefined> {
    try {
      // A job that was cancelled meanwhile stays cancelled; the next step asks the upstream to cancel its task.
      if (!(await jobs.begin(jobId, taskId)))
        return (await jobs.addCancelledTask(jobId, taskId)) ? { afterMs: 0 } : undefined;
    } catch (error) {
      log.warn(
        { job_id: jobId, reason: describeError(error) },
        'storing a video task failed; trying again later',
      );
      return { ...timing.next, memo: { taskId } };
    }
    await notifications.progress(jobId, 0);
    return timing.next;
  }

  async function submitTo(lease: Lease, work: VideoWork, memo: StepMemo) {
    const { backend, model } = lease;
    const images = await jobs.images(work.id);
    const to = { backend: backend.name, servedModel: model };
    if (!(await jobs.startSubmission(work.id, to))) return undefined;
    const call = telemetry.begin('video', backend, model);
    try {
      const body = upstreamVideo(work.order, images, model);
      const taskId = await call.run(() => send(lease, body, work.id));
      call.end();
      void lease.settle('success');
      return await begin(work.id, taskId);
    } catch (failure) {
      call.fail(failure);
      if (!(failure instanceof UpstreamFailure)) throw failure;
      await lease.settle(outcomeOf(failure));
      if (!failure.hadNoEffect) {
        await fail(work.id, failedUpstream(failure));
        return undefined;
      }
      await jobs.undoSubmission(work.id);
      return waitOrFail(work, memo, failedUpstream(failure));
    }
  }

  return async (work, memo) => {
    if (memo.taskId !== undefined) return begin(work.id, memo.taskId);
    const lease = await choose(work);
    if (typeof lease === 'string') return waitOrFail(work, memo, { message: lease });
    try {
      return await submitTo(lease, work, memo);
    } finally {
      // Only the first call of settle counts.
      await lease.settle('neutral');
    }
  };
}

/** Resolves with the id of the task; the upstream recognizes a repeated submission by the id of the job. */
async function send(
  { backend }: Lease,
  body: ReturnType<typeof upstreamVideo>,
  idempotencyKey: string,
): Promise<string> {
  if (backend.submitVideo === undefined) {
    const message = `backend '${backend.name}' does not support video`;
    throw new UpstreamFailure(message, { isBackendAtFault: false });
  }
  const signal = AbortSignal.timeout(SUBMISSION_MS_MAX);
  try {
    const { taskId } = await backend.submitVideo(body, { idempotencyKey, signal });
    return taskId;
  } catch (error) {
    if (!signal.aborted) throw error;
    const message = `the upstream did not answer within ${SUBMISSION_MS_MAX} ms`;
    throw new UpstreamFailure(message, { isBackendAtFault: true, cause: error });
  }
}
