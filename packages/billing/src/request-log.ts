import type { SpendFilter } from './spend.ts';
import type { TimeRange } from './time-split.ts';
import type { UsageRecord } from './usage-store.ts';

/** Which requests are listed. */
export interface RequestFilter extends Omit<SpendFilter, 'since' | 'until'>, TimeRange {
  /** A status, or all below 400, or all others. */
  readonly status?: 'ok' | 'error' | number | undefined;
}

/** A position between two requests of a list. */
export interface RequestPosition {
  /** When the request before it was completed, as exact as it is stored. */
  readonly createdAt: string;
  readonly id: string;
}

export interface RequestPage {
  readonly requests: readonly UsageRecord[];
  /** Undefined on the last page. */
  readonly next: RequestPosition | undefined;
}

/** Reads single requests. */
export interface RequestLog {
  /** The newest first, then by id. */
  list(
    filter: RequestFilter,
    page: { readonly limit: number; readonly after?: RequestPosition | undefined },
  ): Promise<RequestPage>;
  find(id: string): Promise<UsageRecord | undefined>;
}
