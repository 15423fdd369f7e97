import type { RouteRule } from './route-rule.ts';

/** The channel for changed routes; the message is the model. */
export const ROUTES_CHANNEL = 'routes';

/** Stores the routes. */
export interface RouteRuleStore {
  /** By model. */
  list(): Promise<readonly RouteRule[]>;
  /** Replaces an earlier route of this model. */
  set(rule: RouteRule): Promise<void>;
  /** Returns whether there was one. */
  remove(model: string): Promise<boolean>;
}
