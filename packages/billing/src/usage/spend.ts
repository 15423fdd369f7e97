import type { TimeSpan } from './time-split.ts';

/** What spend can be divided by. */
export type SpendGrouping =
  | 'day'
  | 'hour'
  | 'model'
  | 'upstream'
  | 'key'
  | 'project'
  | 'group'
  | 'user';

/** Rows that match everything that is given. */
export interface SpendFilter extends TimeSpan {
  readonly userId?: string | undefined;
  readonly keyId?: string | undefined;
  readonly groupId?: string | undefined;
  readonly project?: string | undefined;
  readonly model?: string | undefined;
  readonly upstream?: string | undefined;
}

export interface SpendSums {
  /** Requests that were served, also in part. */
  readonly requests: number;
  /** Served and failed requests that ended with an error; a client that stops is none. */
  readonly errors: number;
  /** Requests that were not served: they are not among the requests. */
  readonly failed: number;
  /** Served requests that their clients stopped. */
  readonly cancelled: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly cachedTokens: number;
  readonly totalTokens: number;
  /** Requests without a price add nothing. */
  readonly costUsd: number;
  readonly points: number;
}

export interface SpendGroup extends SpendSums {
  /** A day is `YYYY-MM-DD`, an hour its first moment. Null for requests without the dimension. */
  readonly key: string | null;
}

export interface SpendSummary {
  /** Days and hours in their order; others by cost, the highest first. */
  readonly groups: readonly SpendGroup[];
  readonly total: SpendSums;
}

/** Sums over usage, from kept sums where a period has whole hours or days. */
export interface SpendQueries {
  summary(filter: SpendFilter, by: SpendGrouping): Promise<SpendSummary>;
  /** By id: the emails of users, the names of keys and groups. Absent are those that do not exist any more. */
  names(of: 'key' | 'group' | 'user', ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
}

/** What a check of the kept sums of one day found. */
export interface CheckedDay {
  /** `YYYY-MM-DD`. */
  readonly day: string;
  readonly rows: number;
  /** How many kept lines did not equal the rows. */
  readonly wrongLines: number;
}

/** Compares the kept sums with the rows, and counts them again. */
export interface SpendSumsStore {
  /** The days that have rows or kept sums, the newest first, each in a transaction of its own. */
  check(options: { readonly repairs: boolean }): AsyncIterable<CheckedDay>;
  /** Deletes sums of hours that are kept for a while only. */
  forgetHours(now: Date): Promise<number>;
}
