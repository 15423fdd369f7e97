import type { GroupAccess, User } from '@model-gateway/accounts';
import type { SpendGroup, SpendQueries, SpendSums } from '@model-gateway/billing';
import { invalidParam, type RpcParams, type RpcResult } from '@model-gateway/contracts';
import type { Clock } from '@model-gateway/kernel';
import { assertOrder } from '../protocol/assert-order.ts';
import { scopedFilter } from './request-scope.ts';

export type SummaryParams = RpcParams<'usage.summary'>;
type Summary = RpcResult<'usage.summary'>;

/** Answers what was spent, with every group. */
export type SummarizeSpend = (params: SummaryParams, user: User) => Promise<Summary>;

interface SummaryDependencies {
  readonly spend: Pick<SpendQueries, 'summary'>;
  readonly groups: Pick<GroupAccess, 'authorizeReading'>;
  readonly clock: Clock;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const PERIOD_DAYS_DEFAULT = 30;
const HOURS_MAX = 2_400;

export function createSummarizeSpend({
  spend,
  groups,
  clock,
}: SummaryDependencies): SummarizeSpend {
  return async ({ from, to, group_by, ...params }, user) => {
    const now = clock.now();
    const until = to ?? new Date(now);
    const since = from ?? defaultStart(until);
    assertPeriod(since, until, group_by);
    const filter = await scopedFilter(params, user, groups);
    const { groups: found, total } = await spend.summary(
      { ...filter, since, until: countedUntil(until, now) },
      group_by,
    );
    return {
      from: since.toISOString(),
      to: until.toISOString(),
      group_by,
      groups: found.map(groupRecord),
      total: sumsRecord(total),
    };
  };
}

/** The start of a period of 30 UTC days, of which the last one contains its end. */
const defaultStart = (until: Date): Date =>
  new Date((Math.ceil(until.getTime() / DAY_MS) - PERIOD_DAYS_DEFAULT) * DAY_MS);

/** Nothing is recorded after now, so that the sums of the whole day can be used instead of those of its hours and rows. */
const countedUntil = (until: Date, now: number): Date =>
  until.getTime() < now ? until : new Date(Math.ceil(until.getTime() / DAY_MS) * DAY_MS);

function assertPeriod(since: Date, until: Date, groupBy: SummaryParams['group_by']): void {
  assertOrder(since, until);
  if (groupBy === 'hour' && until.getTime() - since.getTime() > HOURS_MAX * HOUR_MS)
    throw invalidParam(
      'from',
      `a summary by hour has at most ${HOURS_MAX} hours; shorten the period`,
    );
}

const sumsRecord = (sums: SpendSums): Summary['total'] => ({
  requests: sums.requests,
  errors: sums.errors,
  failed: sums.failed,
  cancelled: sums.cancelled,
  prompt_tokens: sums.promptTokens,
  completion_tokens: sums.completionTokens,
  cached_tokens: sums.cachedTokens,
  total_tokens: sums.totalTokens,
  cost_usd: sums.costUsd,
  points: sums.points,
});

const groupRecord = ({ key, ...sums }: SpendGroup): Summary['groups'][number] => ({
  key,
  ...sumsRecord(sums),
});
