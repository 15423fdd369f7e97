import type { TimeRange } from './time-split.ts';
import type { UsageRecord } from './usage-store.ts';

/** Which rows are asked about. */
export interface UsageFilter extends TimeRange {
  /** Rows with any of these references; none means all rows. */
  readonly refIds: readonly string[];
}

export type UsageGrouping = 'model' | 'backend' | 'ref' | 'day';

/** What rows add up to. */
export interface UsageSums {
  readonly requests: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly totalTokens: number;
  /** Rows without a price add nothing. */
  readonly costUsd: number;
}

export interface UsageGroup extends UsageSums {
  /** A day is `YYYY-MM-DD`. Null for the rows without a reference. */
  readonly key: string | null;
}

/** What an operator asks about everybody's usage. */
export interface UsageQueries {
  /** What the rows add up to, whatever their number. */
  totals(filter: UsageFilter): Promise<UsageSums>;
  /** The same by group, read at once with the totals, so that the groups add up to them. The most tokens first, then by key; null is the last key. */
  groups(
    filter: UsageFilter,
    by: UsageGrouping,
  ): Promise<{ readonly totals: UsageSums; readonly groups: readonly UsageGroup[] }>;
  /** The rows themselves: the newest first, then by id. */
  records(
    filter: UsageFilter,
    page: { readonly limit: number; readonly offset: number },
  ): Promise<readonly UsageRecord[]>;
}
