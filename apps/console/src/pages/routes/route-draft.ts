import type { RpcInput, RpcResult } from '@model-gateway/contracts';

type Route = RpcResult<'routes.list'>[number];

/** A target in the form; numbers as they are typed. */
export interface TargetDraft {
  readonly id: number;
  readonly model: string;
  /** Empty for every backend that lists the model. */
  readonly backend: string;
  readonly priority: string;
  readonly weight: string;
}

export interface RouteDraft {
  readonly model: string;
  readonly targets: readonly TargetDraft[];
  readonly attempts: string;
  /** Empty for no limit. */
  readonly timeout: string;
  readonly strategy: Route['strategy'];
  /** Empty for never. */
  readonly hedgeAfterMs: string;
  /** Empty for no cache. */
  readonly cacheSecs: string;
  readonly retryOn: Route['retry_on'];
}

/** After which failures another target can be tried. */
export const RETRY_REASONS = ['transport', 'timeout', '5xx', '429'] as const;

export const emptyTarget = (id: number, priority = 0): TargetDraft => ({
  id,
  model: '',
  backend: '',
  priority: String(priority),
  weight: '1',
});

/** The fields of a route that is changed, or of a new one. */
export function draftOf(route: Route | undefined): RouteDraft {
  if (route === undefined)
    return {
      model: '',
      targets: [emptyTarget(1)],
      attempts: '2',
      timeout: '',
      strategy: 'weighted',
      hedgeAfterMs: '',
      cacheSecs: '',
      retryOn: [...RETRY_REASONS],
    };
  return {
    model: route.model,
    targets: route.targets.map(({ model, backend, priority, weight }, index) => ({
      id: index + 1,
      model,
      backend: backend ?? '',
      priority: String(priority),
      weight: String(weight),
    })),
    attempts: String(route.attempts),
    timeout: String(route.timeout_secs ?? ''),
    strategy: route.strategy,
    hedgeAfterMs: String(route.hedge_after_ms ?? ''),
    cacheSecs: String(route.cache?.ttl_secs ?? ''),
    retryOn: route.retry_on,
  };
}

/** The route that the fields describe. */
export function routeOf(draft: RouteDraft): RpcInput<'routes.set'> {
  return {
    model: draft.model.trim(),
    targets: draft.targets.map(({ model, backend, priority, weight }) => ({
      model: model.trim(),
      ...(backend === '' ? {} : { backend }),
      priority: Number(priority),
      weight: Number(weight),
    })),
    attempts: Number(draft.attempts),
    strategy: draft.strategy,
    ...(isEmpty(draft.timeout) ? {} : { timeout_secs: Number(draft.timeout) }),
    ...(isEmpty(draft.hedgeAfterMs) ? {} : { hedge_after_ms: Number(draft.hedgeAfterMs) }),
    ...(isEmpty(draft.cacheSecs) ? {} : { cache: { ttl_secs: Number(draft.cacheSecs) } }),
    retry_on: [...draft.retryOn],
  };
}

const isEmpty = (text: string): boolean => text.trim() === '';

/** The order in which targets are tried: the lowest priority first, then the largest weight. */
export const inOrder = <Target extends { readonly priority: number; readonly weight: number }>(
  targets: readonly Target[],
): readonly Target[] =>
  targets.toSorted((one, other) => one.priority - other.priority || other.weight - one.weight);
