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
  /** The form does not show it: what was set stays. */
  readonly retryOn?: Route['retry_on'];
  /** Likewise. */
  readonly strategy?: Route['strategy'];
  readonly hedgeAfterMs?: Route['hedge_after_ms'];
  readonly cache?: Route['cache'];
}

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
    return { model: '', targets: [emptyTarget(1)], attempts: '2', timeout: '' };
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
    timeout: route.timeout_secs === null ? '' : String(route.timeout_secs),
    retryOn: route.retry_on,
    strategy: route.strategy,
    hedgeAfterMs: route.hedge_after_ms,
    cache: route.cache,
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
    ...(draft.timeout.trim() === '' ? {} : { timeout_secs: Number(draft.timeout) }),
    ...(draft.retryOn === undefined ? {} : { retry_on: [...draft.retryOn] }),
    ...(draft.strategy === undefined ? {} : { strategy: draft.strategy }),
    ...(draft.cache === undefined || draft.cache === null ? {} : { cache: draft.cache }),
    ...(typeof draft.hedgeAfterMs === 'number' ? { hedge_after_ms: draft.hedgeAfterMs } : {}),
  };
}

/** The order in which targets are tried: the lowest priority first, then the largest weight. */
export const inOrder = <Target extends { readonly priority: number; readonly weight: number }>(
  targets: readonly Target[],
): readonly Target[] =>
  targets.toSorted((one, other) => one.priority - other.priority || other.weight - one.weight);
