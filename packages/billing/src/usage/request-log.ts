import type { RequestAttempt } from '@model-gateway/contracts';
import type { SpendFilter } from './spend.ts';
import type { TimeRange } from './time-split.ts';
import type { UsageRecord } from './usage-store.ts';

/** Which requests are listed. */
export interface RequestFilter extends Omit<SpendFilter, 'since' | 'until'>, TimeRange {
  /** A status, or all below 400, those that their clients stopped, or all others. */
  readonly status?: 'ok' | 'error' | 'cancelled' | number | undefined;
  /** The code of an error. */
  readonly errorCode?: string | undefined;
  /** The id of a request, of the service or of the client. */
  readonly requestId?: string | undefined;
}

/** A position between two requests of a list. */
export interface RequestPosition {
  /** When the request before it was completed, as exact as it is stored. */
  readonly createdAt: string;
  readonly id: string;
}

/** A request, metered or failed. */
export interface LoggedRequest extends Omit<UsageRecord, 'model'> {
  /** Null for a failed request whose model could not be read. */
  readonly model: string | null;
  /** The id that the client gave the request, or else that of the service. */
  readonly requestId: string;
  readonly errorCode: string | null;
  readonly error: string | null;
  /** Null where they are not known, or no longer; most requests have one, which the row itself describes. */
  readonly attempts: readonly RequestAttempt[] | null;
  /** How many requests that are alike the row stands for. */
  readonly repeats: number;
}

export interface RequestPage {
  readonly requests: readonly LoggedRequest[];
  /** Undefined on the last page. */
  readonly next: RequestPosition | undefined;
}

/** The bodies of a request, cut where they are long. */
export interface RequestBodies {
  readonly request: string | null;
  readonly answer: string | null;
}

/** Reads single requests. */
export interface RequestLog {
  /** The newest first, then by id. */
  list(
    filter: RequestFilter,
    page: { readonly limit: number; readonly after?: RequestPosition | undefined },
  ): Promise<RequestPage>;
  find(id: string): Promise<LoggedRequest | undefined>;
  bodiesOf(id: string): Promise<RequestBodies | undefined>;
}

/** The bodies of a request of a user. */
export interface KeptBodies extends RequestBodies {
  readonly id: string;
  readonly createdAt: Date;
  readonly userId: string;
}

/** Writes what is no part of the bill; failed requests come with the usage. */
export interface RequestLogStore {
  addBodies(bodies: readonly KeptBodies[]): Promise<void>;
  /** Deletes at most this many of what is older; answers how many were. Failed requests go by whole UTC days. */
  removeRows(before: Date, limit: number): Promise<number>;
  removeBodies(before: Date, limit: number): Promise<number>;
}
