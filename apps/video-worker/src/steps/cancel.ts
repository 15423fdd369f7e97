import type {
  CancelledTask,
  UpstreamTelemetry,
  VideoJobStore,
  VideoWork,
} from '@model-gateway/inference';
import { abortAfter, type Log } from '@model-gateway/kernel';
import {
  UpstreamFailure,
  type Backend,
  type Router,
  type VideoCharge,
} from '@model-gateway/router';
import type { NextStep, StepMemo } from '../job-queue.ts';
import type { VideoTiming } from '../video-timing.ts';
import type { BillJob } from './bill.ts';

/** Asks the upstream of a cancelled job to cancel its task, and bills what it still charges. */
export type CancelJob = (work: VideoWork, memo: StepMemo) => Promise<NextStep | undefined>;

interface CancelDependencies {
  readonly jobs: Pick<VideoJobStore, 'addCancelledTask'>;
  readonly router: Pick<Router, 'use'>;
  readonly telemetry: UpstreamTelemetry;
  readonly bill: BillJob;
  readonly timing: VideoTiming;
  readonly log: Log;
  /** Aborted when this worker stops: other workers continue. */
  readonly stopping: AbortSignal;
}

const CANCEL_TIMEOUT_MS = 10_000;

export function createCancel(dependencies: CancelDependencies): CancelJob {
  const { jobs, router, telemetry, bill, timing, log, stopping } = dependencies;

  /** Undefined when the upstream has not answered and is to be asked again. */
  async function chargeOf({
    backend: name,
    taskId,
  }: CancelledTask): Promise<VideoCharge | undefined> {
    const used = router.use(name);
    // The backend may be registered again.
    if (used === undefined) return undefined;
    try {
      return await ask(used.backend, taskId);
    } catch (failure) {
      return isAnswer(failure) ? 'nothing' : undefined;
    } finally {
      used.release();
    }
  }

  async function ask(backend: Backend, taskId: string): Promise<VideoCharge> {
    // Not every upstream can cancel.
    if (backend.cancelVideo === undefined) return 'nothing';
    const call = telemetry.begin('video', backend, undefined);
    const asking = backend.cancelVideo.bind(backend, taskId);
    try {
      const charge = await call.run(() => abortAfter(CANCEL_TIMEOUT_MS, stopping, asking));
      call.end();
      return charge;
    } catch (failure) {
      if (stopping.aborted) call.leave();
      else call.fail(failure);
      throw failure;
    }
  }

  async function end(work: VideoWork, charge: VideoCharge): Promise<void> {
    const billed = await bill(work.id, async ({ jobs: stored, price }) => {
      const cost = costOf(charge, price);
      const isEnded = await stored.endCancel(work.id, cost);
      return isEnded ? { cost, isFree: cost === 0 } : undefined;
    });
    if (billed === undefined) return;
    log.info(
      { job_id: work.id, backend: work.backend, cost: billed.cost },
      'a video task was cancelled',
    );
  }

  return async (work, memo) => {
    if (work.cancelling === null) {
      // The upstream accepted the job while it was cancelled.
      const { taskId } = memo;
      if (taskId === undefined || !(await jobs.addCancelledTask(work.id, taskId))) return undefined;
      return { afterMs: 0 };
    }
    const charge = await chargeOf(work.cancelling);
    if (stopping.aborted && charge === undefined) return { afterMs: 0, memo };
    if (charge === undefined && !timing.isExpired(work.cancelling.cancelledAt))
      return timing.afterFailure(memo);
    await end(work, charge ?? 'nothing');
    return undefined;
  };
}

/** An upstream that refuses, or answers something else, will not answer differently later. */
const isAnswer = (failure: unknown): boolean =>
  failure instanceof UpstreamFailure && (!failure.isBackendAtFault || failure.wasUnreadable);

/** The upstream never makes a cancelled video cost more than a finished one. */
function costOf(charge: VideoCharge, price: number): number {
  if (charge === 'nothing') return 0;
  return charge === 'everything' ? price : Math.min(charge.cost, price);
}
