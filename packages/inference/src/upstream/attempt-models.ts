import type { Cancel } from '@model-gateway/kernel';
import type { ChosenBackend } from '@model-gateway/router';
import type { FallbackModel } from './fallback-model.ts';
import {
  attempt,
  type AttemptDependencies,
  type Attempted,
  type RouteRequest,
} from './attempts.ts';

/**
 * Tries the model of a request and then the others, each on its own backends, until one answers. The last failure is the
 * error of the request. A request without other models costs nothing more. A caller that has chosen the first backend passes
 * its route.
 */
export function attemptModels<Answer>(
  dependencies: AttemptDependencies,
  query: RouteRequest,
  fallbacks: readonly FallbackModel[],
  ask: (route: ChosenBackend, signal: Cancel) => Promise<Answer>,
  chosen?: ChosenBackend,
): Promise<Attempted<Answer>> {
  return fallbacks.length === 0
    ? attempt(dependencies, query, ask, chosen)
    : attemptEach(dependencies, query, othersOf(query, fallbacks), ask, chosen);
}

/** Each other model once, by what its alias stands for: what failed is not tried again. */
function othersOf(
  { resolved }: RouteRequest,
  fallbacks: readonly FallbackModel[],
): readonly FallbackModel[] {
  const named = new Set([resolved]);
  return fallbacks.filter((fallback) => {
    const isOther = !named.has(fallback.resolved);
    named.add(fallback.resolved);
    return isOther;
  });
}

async function attemptEach<Answer>(
  dependencies: AttemptDependencies,
  query: RouteRequest,
  fallbacks: readonly FallbackModel[],
  ask: (route: ChosenBackend, signal: Cancel) => Promise<Answer>,
  chosen: ChosenBackend | undefined,
): Promise<Attempted<Answer>> {
  let isAccepted = chosen !== undefined;
  const onAccepted = (): void => {
    if (!isAccepted) query.onAccepted();
    isAccepted = true;
  };
  const first: RouteRequest = { ...query, onAccepted };
  let next = first;
  let route = chosen;
  for (const fallback of fallbacks) {
    try {
      return await attempt(dependencies, next, ask, route);
    } catch (error) {
      if (query.signal.aborted || query.canRepeat?.() === false) throw error;
      next = { ...first, model: fallback.model, resolved: fallback.resolved };
      route = undefined;
    }
  }
  return attempt(dependencies, next, ask);
}
