import { videoCostOf, type AdmissionFacts, type AdmissionStore } from '@model-gateway/billing';
import type { UsageEvent, VideoResult } from '@model-gateway/contracts';
import type { Database } from '@model-gateway/db';
import {
  videoResultOf,
  videoShapeOf,
  type FinishedVideo,
  type UsageCounts,
  type VideoNotifications,
  type VideoWork,
} from '@model-gateway/inference';
import { describeError, type Clock, type CounterSeries, type Log } from '@model-gateway/kernel';

/** Completes a job, unless it has ended, and bills it. */
export type SettleJob = (jobId: string, video: FinishedVideo) => Promise<void>;

interface SettleDependencies {
  readonly database: Pick<Database, 'transaction'>;
  readonly admission: Pick<AdmissionStore, 'updateHints'>;
  readonly notifications: Pick<VideoNotifications, 'done'>;
  readonly pointsPerUsd: number;
  readonly count: UsageCounts;
  readonly paid: CounterSeries;
  readonly clock: Clock;
  readonly log: Log;
}

interface SettledJob {
  readonly result: VideoResult;
  readonly cost: number;
  readonly facts: AdmissionFacts;
  readonly usage: UsageEvent;
  readonly points: number;
}

export function createSettle(dependencies: SettleDependencies): SettleJob {
  const { database, admission, notifications, pointsPerUsd, count, paid, clock, log } =
    dependencies;

  /** The end of the job, its usage row and its payment are written in one transaction. */
  function write(jobId: string, video: FinishedVideo): Promise<SettledJob | undefined> {
    return database.transaction(async ({ videoJobs, videoPricing, usage }) => {
      const work = await videoJobs.findWork(jobId);
      if (work === undefined) return undefined;
      const price = await videoPricing.find(work.resolvedModel);
      const cost = videoCostOf(price, videoShapeOf(work.order));
      const result = videoResultOf(video, work.order);
      const at = new Date(clock.now());
      if (!(await videoJobs.finish(jobId, { result, cost, at }))) return undefined;
      const served = usageOf(work, cost, at);
      const { points, facts } = await usage.record([served], { pointsPerUsd });
      return { result, cost, facts, usage: served, points };
    });
  }

  /** A failure is only logged: the job is already paid, and the fact refresh publishes the balances later. */
  async function publishFacts(facts: AdmissionFacts): Promise<void> {
    try {
      await admission.updateHints(facts);
    } catch (error) {
      log.warn({ reason: describeError(error) }, 'publishing balances failed');
    }
  }

  return async (jobId, video) => {
    const settled = await write(jobId, video);
    if (settled === undefined) return;
    count(settled.usage);
    paid.inc(settled.points);
    await publishFacts(settled.facts);
    await notifications.done(jobId, settled);
  };
}

/** The row has the id of the job, so a job has at most one. */
function usageOf(work: VideoWork, cost: number, at: Date): UsageEvent {
  const { payer } = work;
  return {
    id: work.id,
    user_id: payer.userId,
    key_id: payer.keyId,
    api_key_id: payer.apiKeyId,
    project: payer.project,
    group_id: payer.groupId,
    multiplier: payer.multiplier,
    model: work.servedModel ?? work.resolvedModel,
    backend: 'video',
    prompt_tokens: 0,
    completion_tokens: 0,
    total_tokens: 0,
    cost,
    ref_id: null,
    created_at: at.toISOString(),
  };
}
