import type { BudgetWindow } from './budget-window.ts';

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
  /** The accounts that the user may not draw on in this month; omitted without any. */
  readonly refusals?: readonly AccountRefusal[] | undefined;
}

/** What counts against the budget of a key in a period. */
export interface BudgetUsage {
  readonly costUsd: number;
  /** Increases with every row of the period: the higher of two versions is newer. */
  readonly version: number;
}

/** The limits of a key; null means unlimited. */
export interface KeyLimits {
  readonly id: string;
  readonly budgetUsd: number | null;
  readonly tokensPerMinute: number | null;
}

/** What a key with limits has in flight and has used. */
export interface KeyCounts {
  /** By its other requests in flight, and by requests that are not settled yet. */
  readonly reservedUsd: number;
  /** The part of it that was used. */
  readonly unsettledUsd: number;
  /** Of the last minute, and of its other requests in flight; 0 without a limit. */
  readonly tokens: number;
  /** When the oldest of the tokens stop counting. */
  readonly nextFreeMs: number;
}

/** The account that a request draws on. */
export interface DrawingAccount {
  readonly type: 'user' | 'group';
  readonly id: string;
}

/** An account that could not cover a request of a user on a drained tier: it pays for nothing of theirs until it grows. */
export interface AccountRefusal {
  readonly account: DrawingAccount;
  /** How often the balance had grown before. */
  readonly increases: number;
}

export interface AccountState {
  /** Points. */
  readonly balance: number;
  /** Whether it was ever funded. */
  readonly hasHistory: boolean;
  /** How often the balance has grown. */
  readonly increases: number;
  /** Increases with every change: the higher of two versions is newer. */
  readonly version: number;
}

/** The maximum of requests in any 60 seconds. */
export interface RequestLimit {
  /** What is counted, such as `key:<id>` or `group:<id>`. */
  readonly name: string;
  readonly requestsPerMinute: number;
}

/** The requests that a limit has counted in the last 60 seconds, this one included if it was admitted. */
export interface CountedRequests {
  readonly count: number;
  /** When the oldest of them stops counting; 0 without any. */
  readonly nextFreeMs: number;
}

/** Amounts that requests in flight are expected to use. */
export interface ReservedAmounts {
  readonly tokens: number;
  readonly costUsd: number;
  /** Of the drawing account; a whole number. */
  readonly points: number;
}

/** The monthly quotas of a tier; null means unlimited. */
interface MonthlyQuotas {
  readonly monthlyUsdQuota: number | null;
  readonly monthlyTokenQuota: number | null;
}

export type UsedAmounts = Pick<ReservedAmounts, 'tokens' | 'costUsd'>;

/** What a request reserves, and the values that decide whether it may. */
export interface RequestedAmounts extends ReservedAmounts {
  readonly tier: MonthlyQuotas;
  /** The account whose points it reserves. */
  readonly account: DrawingAccount;
  /** Whether the model has a price: without one it cannot be paid with points. */
  readonly isPriced: boolean;
  /** Omitted if the key has no such limits. */
  readonly key?: KeyLimits | undefined;
}

/** A request in flight: one of the concurrent calls of its user, with what it reserves. */
export interface ReservationRequest {
  readonly id: string;
  readonly userId: string;
  /** How many calls the user may have at a time. */
  readonly callsMax: number;
  /**
   * Omitted if no quota can refuse. A call that has begun before does not count against itself; it is renewed, with the
   * larger of both reservations.
   */
  readonly reservation?: RequestedAmounts | undefined;
}

/** What ends for a call. A call that has ended before, or expired, is ignored. */
export interface ReservationEnd {
  readonly id: string;
  readonly userId: string;
  /** False for a job that goes on after its call: then only the call ends. */
  readonly endsReservation: boolean;
  /** False for the end of a job whose call has ended before. */
  readonly endsCall: boolean;
  /** What the call has used: it counts instead of what was reserved, until it is settled or the reservation would expire. */
  readonly usage?: ReservedAmounts | undefined;
  /** The key whose limits the call counts in, if it has any. */
  readonly keyId?: string | undefined;
}

/** A call whose usage is in the database. */
export interface SettledReservation {
  readonly id: string;
  readonly userId: string;
}

export interface AdmissionRequest {
  /** The number of account changes that the caller knows of. */
  readonly knownEpoch: number;
  /** All of them must allow the request; then it counts in each. */
  readonly limits: readonly RequestLimit[];
  /** Omitted if no quota can refuse. */
  readonly window?: QuotaWindow | undefined;
  readonly account?: DrawingAccount | undefined;
  /** Omitted if the key has no budget. */
  readonly budget?: BudgetWindow | undefined;
  /** Begins a call, unless the request is refused. */
  readonly call?: ReservationRequest | undefined;
  /** Whether the call is running already: then a failure does not end it. */
  readonly renews?: boolean | undefined;
}

export type AdmissionAnswer =
  /** There were more changes than the caller knows of: nothing was counted. */
  | { readonly outcome: 'stale'; readonly epoch: number }
  /** The request would be one too many for this limit: nothing was counted. */
  | {
      readonly outcome: 'limited';
      readonly epoch: number;
      readonly limit: RequestLimit;
      readonly window: WindowUsage | undefined;
    }
  /** The user has as many calls as allowed: nothing was counted. */
  | {
      readonly outcome: 'busy';
      readonly epoch: number;
      readonly callsMax: number;
      readonly window: WindowUsage | undefined;
      readonly counted: readonly CountedRequests[];
    }
  /** The key has used as many tokens as allowed: nothing was counted. */
  | {
      readonly outcome: 'tokens_limited';
      readonly epoch: number;
      readonly nextFreeMs: number;
      readonly counted: readonly CountedRequests[];
    }
  | {
      readonly outcome: 'admitted';
      readonly epoch: number;
      /** Undefined if it is not known. */
      readonly window: WindowUsage | undefined;
      readonly account: AccountState | undefined;
      readonly budget?: BudgetUsage | undefined;
      /** Undefined if the request has no limits of its key. */
      readonly key?: KeyCounts | undefined;
      /**
       * What the other requests in flight reserve, and what requests have used that is not settled yet; zeros if the
       * request reserves nothing.
       */
      readonly reserved: ReservedAmounts;
      /** The part of it that was used. */
      readonly unsettled: UsedAmounts;
      /** False if the known facts and the other reservations refuse it: then no call began. */
      readonly hasBegun: boolean;
      /** For each limit of the request, in their order. */
      readonly counted: readonly CountedRequests[];
    };

/** Values from the database for the admission store. */
export interface AdmissionFacts {
  readonly windows: readonly (QuotaWindow & WindowUsage)[];
  readonly accounts: readonly (DrawingAccount & AccountState)[];
  readonly budgets?: readonly (BudgetWindow & BudgetUsage)[];
  /** The calls that these values include: they count as unsettled no longer. */
  readonly settled?: readonly SettledReservation[];
}

/** The shared state for the admission of requests: limits, and hints of values in the database. */
export interface AdmissionStore {
  /** One round trip. */
  admit(request: AdmissionRequest): Promise<AdmissionAnswer>;
  /** Updates the hints; a fact that is older than the stored one is ignored. */
  updateHints(facts: AdmissionFacts): Promise<void>;
  /** Ends a call without waiting for that. What is never ended expires by itself. */
  endCall(end: ReservationEnd): void;
  /** Called when another place begins to count the calls, which then does not know those in flight. */
  readonly onReplaced?: (listener: () => void) => void;
}
