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

/** The requirements of a request. */
export interface RouteRequest extends Omit<ChoiceOptions, 'exclude'> {
  readonly model: string;
  readonly capability: Capability;
  /** Aborted when the client disconnected. */
  readonly signal: Cancel;
  /** Called once, when a backend was found; not if the route was chosen before. */
  readonly onAccepted: () => void;
  /** Called at most once, when the client left while the backend of this route worked on the request. */
  readonly onLeft?: (route: Route) => Promise<void>;
}

/** Chooses backends, and measures the calls. */
export interface AttemptDependencies {
  readonly router: Pick<Router, 'choose'>;
  readonly telemetry: UpstreamTelemetry;
}

/** A call in progress. */
export interface ActiveCall {
  readonly route: Route;
  readonly call: UpstreamCall;
}

/** A response and its route. The caller must report how the call ended. */
export interface Attempted<Answer> extends ActiveCall {
  readonly answer: Answer;
}

/**
 * Calls a backend, and a second one if the first is at fault and the client has received nothing. Reports failures to the
 * breaker of the backend; the caller reports the end of a response that has begun. A caller that has chosen the first backend
 * passes its route.
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
    await reportIfLeft(firstRoute, failure, query);
    const { name } = firstRoute.backend;
    const secondRoute = isBackendFault ? await chooseAnother(router, query, name) : undefined;
    // If there is no other backend, the first failure is the better error.
    if (secondRoute === undefined) throw failure;
    const second = begin(secondRoute);
    try {
      const answer = await second.call.run(() => ask(secondRoute));
      return { answer, route: secondRoute, call: second.call };
    } catch (secondFailure) {
      await settleFailure(second, secondFailure, signal);
      await reportIfLeft(secondRoute, secondFailure, query);
      throw secondFailure;
    }
  }
}

/** Reports a failure to the backend's breaker; true when the backend is at fault. */
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

/** A backend that was never sent the request, or refused it, did no work. */
async function reportIfLeft(
  route: Route,
  failure: unknown,
  { signal, onLeft }: RouteRequest,
): Promise<void> {
  if (!signal.aborted || !(failure instanceof UpstreamFailure)) return;
  if (failure.hadNoEffect || failure.status !== undefined) return;
  await onLeft?.(route);
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
