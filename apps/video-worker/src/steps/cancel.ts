import type { VideoJobStore, VideoWork } from '@model-gateway/inference';
import type { Log } from '@model-gateway/kernel';
import type { VideoCharge } from '@model-gateway/router';
import type { NextStep, StepMemo } from '../job-queue.ts';
import type { VideoTiming } from '../video-timing.ts';
import type { BillJob } from './bill.ts';
import type { CancelTask } from './cancel-task.ts';

/** Asks the upstream of a cancelled job to cancel its task, and bills what it still charges. */
export type CancelJob = (work: VideoWork, memo: StepMemo) => Promise<NextStep | undefined>;

interface CancelDependencies {
  readonly jobs: Pick<VideoJobStore, 'addCancelledTask'>;
  readonly cancelTask: CancelTask;
  readonly bill: BillJob;
  readonly timing: VideoTiming;
  readonly log: Log;
  /** Aborted when this worker stops: other workers continue. */
  readonly stopping: AbortSignal;
}

export function createCancel(dependencies: CancelDependencies): CancelJob {
  const { jobs, cancelTask, bill, timing, log, stopping } = dependencies;

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
    const charge = await cancelTask(work.cancelling);
    if (stopping.aborted && charge === undefined) return { afterMs: 0, memo };
    if (charge === undefined && !timing.isExpired(work.cancelling.cancelledAt))
      return timing.afterFailure(memo);
    await end(work, charge ?? 'nothing');
    return undefined;
  };
}

/** The upstream never makes a cancelled video cost more than a finished one. */
function costOf(charge: VideoCharge, price: number): number {
  if (charge === 'nothing') return 0;
  return charge === 'everything' ? price : Math.min(charge.cost, price);
}
