import type { TimeRange } from './time-split.ts';
import type { UsageRecord } from './usage-store.ts';

export interface UsageFilter extends TimeRange {
  /** Rows with any of these references; empty means all rows. */
  readonly refIds: readonly string[];
}

export type UsageGrouping = 'model' | 'backend' | 'ref' | 'day';

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

/** Queries of operators about the usage of all users. */
export interface UsageQueries {
  /** The sums of the rows, whatever their number. */
  totals(filter: UsageFilter): Promise<UsageSums>;
  /** The same by group, in one snapshot with the totals. The most tokens first, then by key; null is the last key. */
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
