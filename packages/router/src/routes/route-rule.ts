/** The kinds of failures after which a request may be tried on another target. */
export const RETRY_REASONS = ['transport', 'timeout', '5xx', '429'] as const;
export type RetryReason = (typeof RETRY_REASONS)[number];

/** One of the models that a route leads to. */
export interface RoutedModel {
  readonly model: string;
  /** The name of the only backend that may serve it; undefined for every backend that lists the model. */
  readonly backend?: string | undefined;
  /** 0 is first. Targets of a higher number are used only while none of a lower one is up. */
  readonly priority: number;
  /** The share among the targets of the same priority. */
  readonly weight: number;
}

/** How a request is tried again. */
export interface RetryPolicy {
  /** How many targets a request is sent to at most. */
  readonly attempts: number;
  /** How long each of them may take until its first byte; undefined for the limits of the backend alone. */
  readonly timeoutMs?: number | undefined;
  readonly retryOn: readonly RetryReason[];
  /** After this time without a first byte a second target is asked as well; undefined for never. */
  readonly hedgeAfterMs?: number | undefined;
}

/** How the targets of one priority share the requests: by weight, or those with the fastest first token get most of them. */
export const ROUTE_STRATEGIES = ['weighted', 'fastest'] as const;
export type RouteStrategy = (typeof ROUTE_STRATEGIES)[number];

/** Where the requests for a model go. */
export interface RouteRule extends RetryPolicy {
  readonly model: string;
  readonly targets: readonly RoutedModel[];
  /** By weight if it is absent. */
  readonly strategy?: RouteStrategy | undefined;
  /** How long answers are stored for equal requests; undefined: not at all. */
  readonly cacheTtlSecs?: number | undefined;
}

/** Without a rule, a request is tried on a second backend whatever the first failed with. */
export const DEFAULT_RETRIES: RetryPolicy = { attempts: 2, retryOn: RETRY_REASONS };

/** The candidates whose targets have the lowest priority number, which are tried first. */
export function firstPriority<Ranked extends { readonly routed: RoutedModel }>(
  candidates: readonly Ranked[],
): readonly Ranked[] {
  const lowest = Math.min(...candidates.map(({ routed }) => routed.priority));
  return candidates.filter(({ routed }) => routed.priority === lowest);
}

/**
 * One of these targets by weight, for a random number from 0 to below 1. Targets of weight 0 are used only while there is no
 * other one.
 */
export function byWeight(targets: readonly RoutedModel[], random: number): RoutedModel | undefined {
  const total = targets.reduce((sum, { weight }) => sum + weight, 0);
  if (total === 0) return targets[Math.floor(random * targets.length)];
  let left = random * total;
  for (const target of targets) {
    left -= target.weight;
    if (left < 0) return target;
  }
  return targets.findLast(({ weight }) => weight > 0);
}

/** The part of the requests that each of these targets gets. */
export function sharesOf(targets: readonly RoutedModel[]): ReadonlyMap<RoutedModel, number> {
  const total = targets.reduce((sum, { weight }) => sum + weight, 0);
  return new Map(
    targets.map((target) => [target, total === 0 ? 1 / targets.length : target.weight / total]),
  );
}

/** A number for which `byWeight` gives the target with the greatest share, the first of several. */
export function likeliest(targets: readonly RoutedModel[]): number {
  let before = 0;
  let best = { share: -1, middle: 0 };
  for (const share of sharesOf(targets).values()) {
    if (share > best.share) best = { share, middle: before + share / 2 };
    before += share;
  }
  return best.middle;
}
