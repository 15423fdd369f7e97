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
  /** Everything that is asked for, as it was at one moment. */
  find(filter: UsageFilter, wanted: UsageWanted): Promise<UsageFound>;
}

/** What of the usage is asked for, besides the totals. */
export interface UsageWanted {
  /** The sums by group. */
  readonly by?: UsageGrouping | undefined;
  /** The rows themselves. */
  readonly page?: { readonly limit: number; readonly offset: number } | undefined;
}

export interface UsageFound {
  /** The sums of the rows, whatever their number. */
  readonly totals: UsageSums;
  /** The most tokens first, then by key; null is the last key. */
  readonly groups: readonly UsageGroup[] | undefined;
  /** The newest first, then by id. */
  readonly records: readonly UsageRecord[] | undefined;
}
