import { videoCostOf, type AdmissionFacts, type AdmissionStore } from '@model-gateway/billing';
import type { UsageEvent } from '@model-gateway/contracts';
import type { Database } from '@model-gateway/db';
import {
  jobEnd,
  SERVED_STATUS,
  videoShapeOf,
  type UsageCounts,
  type VideoJobStore,
  type VideoWork,
} from '@model-gateway/inference';
import { describeError, type Clock, type CounterSeries, type Log } from '@model-gateway/kernel';

/** Ends a job and bills it, in one transaction. Undefined when it had ended. */
export type BillJob = <End extends BilledEnd>(
  jobId: string,
  end: (ending: EndingJob) => Promise<End | undefined>,
) => Promise<End | undefined>;

/** The facts that the end of a job depends on. */
export interface EndingJob {
  readonly jobs: VideoJobStore;
  readonly work: VideoWork;
  /** USD, of the whole video. */
  readonly price: number;
  readonly at: Date;
}

interface BilledEnd {
  readonly cost: number;
  /** Whether there is nothing to record. */
  readonly isFree?: boolean;
}

interface BillDependencies {
  readonly database: Pick<Database, 'transaction'>;
  readonly admission: Pick<AdmissionStore, 'updateHints' | 'endCall'>;
  readonly pointsPerUsd: number;
  readonly count: UsageCounts;
  readonly paid: CounterSeries;
  readonly clock: Clock;
  readonly log: Log;
}

export function createBill(dependencies: BillDependencies): BillJob {
  const { database, admission, pointsPerUsd, count, paid, clock, log } = dependencies;

  /** A failure is only logged: the job is already paid, and the fact refresh publishes the balances later. */
  async function publishFacts(facts: AdmissionFacts): Promise<void> {
    try {
      await admission.updateHints(facts);
    } catch (error) {
      log.warn({ reason: describeError(error) }, 'publishing balances failed');
    }
  }

  return async (jobId, end) => {
    const billed = await database.transaction(async ({ videoJobs, videoPricing, usage }) => {
      const work = await videoJobs.findWork(jobId);
      if (work === undefined) return undefined;
      const price = videoCostOf(
        await videoPricing.find(work.resolvedModel),
        videoShapeOf(work.order),
      );
      const at = new Date(clock.now());
      const ended = await end({ jobs: videoJobs, work, price, at });
      if (ended === undefined || ended.isFree === true) return { ended, work };
      const served = usageOf(work, ended.cost, at);
      return { ended, work, served, recorded: await usage.record([served], { pointsPerUsd }) };
    });
    if (billed?.recorded !== undefined) {
      count(billed.served);
      paid.inc(billed.recorded.points);
      await publishFacts(billed.recorded.facts);
    }
    if (billed?.ended !== undefined) admission.endCall(jobEnd(billed.work));
    return billed?.ended;
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
    upstream: work.cancelling?.backend ?? work.backend,
    cached_tokens: null,
    latency_ms: Math.max(0, at.getTime() - work.createdAt.getTime()),
    first_token_ms: null,
    status: work.cancelling === null ? SERVED_STATUS.complete : SERVED_STATUS.left,
    created_at: at.toISOString(),
  };
}
