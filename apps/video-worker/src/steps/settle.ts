import {
  videoResultOf,
  type FinishedVideo,
  type VideoNotifications,
} from '@model-gateway/inference';
import type { BillJob } from './bill.ts';

/** Completes a job, unless it has ended, and bills it. */
export type SettleJob = (jobId: string, video: FinishedVideo) => Promise<void>;

interface SettleDependencies {
  readonly bill: BillJob;
  readonly notifications: Pick<VideoNotifications, 'done'>;
}

export function createSettle({ bill, notifications }: SettleDependencies): SettleJob {
  return async (jobId, video) => {
    const settled = await bill(jobId, async ({ jobs, work, price, at }) => {
      const end = { result: videoResultOf(video, work.order), cost: price };
      return (await jobs.finish(jobId, { ...end, at })) ? end : undefined;
    });
    if (settled !== undefined) await notifications.done(jobId, settled);
  };
}
