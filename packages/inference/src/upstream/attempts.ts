import { ServiceError } from '@model-gateway/contracts';
import type { Cancel } from '@model-gateway/kernel';
import {
  UpstreamFailure,
  type Capability,
  type ChoiceOptions,
  type Route,
  type Router,
} from '@model-gateway/router';
import type { UpstreamCall, UpstreamTelemetry } from './upstream-telemetry.ts';

/** What has to be served. */
export interface RouteRequest extends Omit<ChoiceOptions, 'exclude'> {
  readonly model: string;
  readonly capability: Capability;
  /** Aborted when the client went away. */
  readonly signal: Cancel;
  /** Called once, when there is somebody to ask; not where that was known before. */
  readonly onAccepted: () => void;
}

/** Whom to ask, and who watches. */
export interface AttemptDependencies {
  readonly router: Pick<Router, 'choose'>;
  readonly telemetry: UpstreamTelemetry;
}

/** A backend that is being asked. */
export interface ActiveCall {
  readonly route: Route;
  readonly call: UpstreamCall;
}

/** An answer and where it came from. Whoever has it says how the call ended. */
export interface Attempted<Answer> extends ActiveCall {
  readonly answer: Answer;
}

/**
 * Asks a backend, and once more another one, where the first is to blame and nothing has reached the client yet. A failure is
 * told to the backend's breaker here; what becomes of an answer that has begun is for the caller to tell. Whoever has
 * chosen the first backend already gives its route.
 */
export async function attempt<Answer>(
  { router, telemetry }: AttemptDependencies,
  query: RouteRequest,
  ask: (route: Route) => Promise<Answer>,
  chosen?: Route,
): Promise<Attempted<Answer>> {
  const { capability, signal } = query;
  const begin = (route: Route): ActiveCall => ({
    route,
    call: telemetry.begin(capability, route.backend, route.model),
  });
  const firstRoute = chosen ?? (await router.choose(query.model, query));
  if (chosen === undefined) query.onAccepted();
  const first = begin(firstRoute);
  try {
    const answer = await first.call.run(() => ask(firstRoute));
    return { answer, route: firstRoute, call: first.call };
  } catch (failure) {
    const isBackendFault = await settleFailure(first, failure, signal);
    const { name } = firstRoute.backend;
    const secondRoute = isBackendFault ? await chooseAnother(router, query, name) : undefined;
    // Where there is no other, the first failure says more than that.
    if (secondRoute === undefined) throw failure;
    const second = begin(secondRoute);
    try {
      const answer = await second.call.run(() => ask(secondRoute));
      return { answer, route: secondRoute, call: second.call };
    } catch (secondFailure) {
      await settleFailure(second, secondFailure, signal);
      throw secondFailure;
    }
  }
}

/** Tells the backend's breaker of a failure; true when the backend is to blame. */
export async function settleFailure(
  { route, call }: ActiveCall,
  failure: unknown,
  signal: Cancel,
): Promise<boolean> {
  const isBackendFault =
    failure instanceof UpstreamFailure && failure.isBackendAtFault && !signal.aborted;
  if (signal.aborted) call.leave();
  else call.fail(failure);
  await route.settle(isBackendFault ? 'failure' : 'neutral');
  return isBackendFault;
}

async function chooseAnother(
  router: Pick<Router, 'choose'>,
  query: RouteRequest,
  tried: string,
): Promise<Route | undefined> {
  try {
    return await router.choose(query.model, { ...query, exclude: [tried] });
  } catch (error) {
    if (error instanceof ServiceError) return undefined;
    throw error;
  }
}
