import type { BackendLimits, LimitName } from './backend-limits.ts';

/** One running request of a backend that limits how many run at the same time. */
export interface Place {
  /** The name of the backend. */
  readonly name: string;
  /** Unique per request. */
  readonly id: string;
}

/** A place whose process ended without releasing it is free again after this time. */
export const PLACE_KEPT_MS = 30_000;

/**
 * Counts what backends are sent, over all processes. A minute is any 60 seconds, so that an upstream that counts in its own
 * way never gets more than the limit.
 */
export interface LimitStore {
  /** Counts a request in one step with the check. Returns the limit that is reached, and counts nothing, if there is one. */
  take(place: Place, limits: BackendLimits): Promise<LimitName | undefined>;
  /** The limit that the next request would reach; undefined if there is none. */
  reached(name: string, limits: BackendLimits): Promise<LimitName | undefined>;
  /** Prolongs the places of running requests. */
  keep(places: readonly Place[]): Promise<void>;
  /** The request of a place has ended. */
  release(place: Place): Promise<void>;
  /** Counts the tokens of a request that has ended. */
  addTokens(name: string, tokens: number): Promise<void>;
}
