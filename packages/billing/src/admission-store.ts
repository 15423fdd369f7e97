/** The usage that counts against a quota: one month of a user. */
export interface QuotaWindow {
  readonly userId: string;
  /** UTC, `YYYY-MM`. */
  readonly month: string;
}

/** The usage that counts against the tier in a window: the rows without points. */
export interface WindowUsage {
  readonly costUsd: number;
  readonly tokens: number;
  /** Increases with every row of the window, paid by points or by the tier: the higher of two versions is newer. */
  readonly version: number;
}

/** The account that a request draws on. */
export interface DrawingAccount {
  readonly type: 'user' | 'group';
  readonly id: string;
}

export interface AccountState {
  /** Points. */
  readonly balance: number;
  /** Whether it was ever funded. */
  readonly hasHistory: boolean;
  /** Until then requests are refused, because the account could not cover one on a drained tier. */
  readonly refusedUntil: Date | null;
  /** Increases with every change: the higher of two versions is newer. */
  readonly version: number;
}

/** The maximum of requests in any 60 seconds. */
export interface RequestLimit {
  /** What is counted, such as `key:<id>` or `group:<id>`. */
  readonly name: string;
  readonly requestsPerMinute: number;
}

export interface AdmissionRequest {
  /** The number of account changes that the caller knows of. */
  readonly knownEpoch: number;
  /** All of them must allow the request; then it counts in each. */
  readonly limits: readonly RequestLimit[];
  /** Omitted if no quota can refuse. */
  readonly window?: QuotaWindow | undefined;
  readonly account?: DrawingAccount | undefined;
}

export type AdmissionAnswer =
  /** There were more changes than the caller knows of: nothing was counted. */
  | { readonly outcome: 'stale'; readonly epoch: number }
  /** The request would be one too many for this limit: nothing was counted. */
  | { readonly outcome: 'limited'; readonly epoch: number; readonly limit: RequestLimit }
  | {
      readonly outcome: 'passed';
      readonly epoch: number;
      /** Undefined if it is not known. */
      readonly window: WindowUsage | undefined;
      readonly account: AccountState | undefined;
    };

/** Values from the database for the admission store. */
export interface AdmissionFacts {
  readonly windows: readonly (QuotaWindow & WindowUsage)[];
  readonly accounts: readonly (DrawingAccount & AccountState)[];
}

/** The shared state for the admission of requests: limits, and hints of values in the database. */
export interface AdmissionStore {
  /** One round trip. */
  admit(request: AdmissionRequest): Promise<AdmissionAnswer>;
  /** Updates the hints; a fact that is older than the stored one is ignored. */
  updateHints(facts: AdmissionFacts): Promise<void>;
}
