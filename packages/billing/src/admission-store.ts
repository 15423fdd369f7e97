/** The stretch of usage that a quota is held against: one month of a user, or of the keys with one project label. */
export interface QuotaWindow {
  readonly userId: string;
  /** Null for everything that the user does. */
  readonly project: string | null;
  /** UTC, `YYYY-MM`. */
  readonly month: string;
}

/** What counts against the tier in a window: the rows that no points were paid for. */
export interface WindowUsage {
  readonly costUsd: number;
  readonly tokens: number;
  /** Goes up with every row of the window, whoever paid: of two answers, the higher is the newer. */
  readonly version: number;
}

/** Whose points a request draws on. */
export interface DrawingAccount {
  readonly type: 'user' | 'group';
  readonly id: string;
}

export interface AccountState {
  /** Points. */
  readonly balance: number;
  /** Whether it was ever funded. */
  readonly hasHistory: boolean;
  /** Until then it is refused, because it could not cover a request on a drained tier. */
  readonly refusedUntil: Date | null;
  /** Goes up with every change: of two answers, the higher is the newer. */
  readonly version: number;
}

/** How many requests may pass in any 60 seconds. */
export interface RequestLimit {
  /** What is counted, such as `key:<id>` or `group:<id>`. */
  readonly name: string;
  readonly requestsPerMinute: number;
}

export interface AdmissionRequest {
  /** The number of account changes that the caller knows of. */
  readonly knownEpoch: number;
  /** All of them must pass; then the request counts in each. */
  readonly limits: readonly RequestLimit[];
  /** Left out where no quota can refuse. */
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
      /** Undefined where it is not known here. */
      readonly window: WindowUsage | undefined;
      readonly account: AccountState | undefined;
    };

/** What the admission store is told by those who read the truth. */
export interface AdmissionFacts {
  readonly windows: readonly (QuotaWindow & WindowUsage)[];
  readonly accounts: readonly (DrawingAccount & AccountState)[];
}

/** What all processes share to let requests in: limits, and hints of what the database knows. */
export interface AdmissionStore {
  /** One round trip. */
  admit(request: AdmissionRequest): Promise<AdmissionAnswer>;
  /** Updates the hints; a fact that is older than the stored one is ignored. */
  updateHints(facts: AdmissionFacts): Promise<void>;
}
