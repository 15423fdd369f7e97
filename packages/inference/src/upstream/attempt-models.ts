import { ServiceError } from '@model-gateway/contracts';
import type { Cancel } from '@model-gateway/kernel';
import { UpstreamFailure, type Lease, type TargetName } from '@model-gateway/router';
import type { FallbackModel } from './fallback-model.ts';
import { isSafeToRepeat } from './retries.ts';
import {
  attempt,
  type AttemptDependencies,
  type Attempted,
  type RouteRequest,
} from './attempts.ts';

/**
 * Tries the model of a request and then the others, each on its own backends, until one answers. The last failure is the
 * error of the request. A request without other models costs nothing more. A caller that has chosen the first backend passes
 * its lease.
 */
export function attemptModels<Answer>(
  dependencies: AttemptDependencies,
  query: RouteRequest,
  fallbacks: readonly FallbackModel[],
  ask: (lease: Lease, signal: Cancel) => Promise<Answer>,
  chosen?: Lease,
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
  ask: (lease: Lease, signal: Cancel) => Promise<Answer>,
  chosen: Lease | undefined,
): Promise<Attempted<Answer>> {
  let isAccepted = chosen !== undefined;
  const onAccepted = (): void => {
    if (!isAccepted) query.onAccepted();
    isAccepted = true;
  };
  // A route of a later model may lead to what an earlier one was sent to.
  const tried: TargetName[] = [];
  let isSafe = true;
  const askOnce = async (target: Lease, signal: Cancel): Promise<Answer> => {
    tried.push({ backend: target.backend.name, model: target.model });
    try {
      return await ask(target, signal);
    } catch (error) {
      isSafe &&= isSafeToRepeat(query.capability, error);
      throw error;
    }
  };
  const first: RouteRequest = { ...query, onAccepted };
  let next = first;
  let lease = chosen;
  let failure: unknown;
  for (const fallback of [...fallbacks, undefined]) {
    try {
      return await attempt(dependencies, next, askOnce, lease);
    } catch (error) {
      failure = worthTelling(failure, error);
      const isOver = !isSafe || query.signal.aborted || query.canRepeat?.() === false;
      if (fallback === undefined || isOver) break;
      const { model, resolved } = fallback;
      next = { ...first, model, resolved, exclude: [...tried] };
      lease = undefined;
    }
  }
  throw failure;
}

/** What an upstream failed with says more than that no other backend is left. */
const worthTelling = (earlier: unknown, error: unknown): unknown =>
  earlier instanceof UpstreamFailure &&
  error instanceof ServiceError &&
  error.code === 'all_backends_unhealthy'
    ? earlier
    : error;
