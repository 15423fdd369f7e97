import { ServiceError } from '@model-gateway/contracts';
import type { Cancel } from '@model-gateway/kernel';
import {
  UpstreamFailure,
  type ChoiceOptions,
  type Route,
  type Router,
} from '@model-gateway/router';

/** What has to be served. */
export interface Wanted extends Omit<ChoiceOptions, 'exclude'> {
  readonly model: string;
  /** Aborted when the client went away. */
  readonly signal: Cancel;
  /** Called once, when there is somebody to ask; not where that was known before. */
  readonly onAccepted: () => void;
}

/** An answer and where it came from. */
export interface Attempted<Answer> {
  readonly answer: Answer;
  readonly route: Route;
}

/**
 * Asks a backend, and once more another one, where the first is to blame and nothing has reached the client yet. A failure is
 * told to the backend's breaker here; what becomes of an answer that has begun is for the caller to tell. Whoever has
 * chosen the first backend already gives its route.
 */
export async function attempt<Answer>(
  router: Pick<Router, 'choose'>,
  wanted: Wanted,
  ask: (route: Route) => Promise<Answer>,
  chosen?: Route,
): Promise<Attempted<Answer>> {
  const { model, signal, onAccepted, ...options } = wanted;
  const first = chosen ?? (await router.choose(model, options));
  if (chosen === undefined) onAccepted();
  try {
    return { answer: await ask(first), route: first };
  } catch (failure) {
    const isToBlame = await settleFailure(first, failure, signal);
    const second = isToBlame ? await chooseAnother(router, wanted, first.backend.name) : undefined;
    // Where there is no other, the first failure says more than that.
    if (second === undefined) throw failure;
    try {
      return { answer: await ask(second), route: second };
    } catch (secondFailure) {
      await settleFailure(second, secondFailure, signal);
      throw secondFailure;
    }
  }
}

/** Tells the backend's breaker of a failure; true when the backend is to blame. */
export async function settleFailure(
  route: Route,
  failure: unknown,
  signal: Cancel,
): Promise<boolean> {
  const isToBlame =
    failure instanceof UpstreamFailure && failure.isBackendAtFault && !signal.aborted;
  await route.settle(isToBlame ? 'failure' : 'neutral');
  return isToBlame;
}

async function chooseAnother(
  router: Pick<Router, 'choose'>,
  { model, signal: _signal, onAccepted: _onAccepted, ...options }: Wanted,
  tried: string,
): Promise<Route | undefined> {
  try {
    return await router.choose(model, { ...options, exclude: [tried] });
  } catch (error) {
    if (error instanceof ServiceError) return undefined;
    throw error;
  }
}
