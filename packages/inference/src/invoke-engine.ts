import { ServiceError } from '@model-gateway/contracts';
import { createCanceller } from '@model-gateway/kernel';
import { UpstreamFailure, type Router } from '@model-gateway/router';

/** A method of the engine behind a model. */
export interface EngineCall {
  readonly model: string;
  readonly method: string;
  readonly params: unknown;
}

interface InvokeDependencies {
  readonly router: Pick<Router, 'choose'>;
  readonly timeoutMs?: number;
}

const INVOKE_TIMEOUT_MS = 30_000;

/** Calls an engine and answers what it answered. Tried once: nobody knows what a call that failed has moved. */
export async function invokeEngine(
  { model: requested, method, params }: EngineCall,
  { router, timeoutMs = INVOKE_TIMEOUT_MS }: InvokeDependencies,
): Promise<unknown> {
  const route = await router.choose(requested, { capability: 'invoke' });
  const { backend, model } = route;
  const canceller = createCanceller();
  const { cancel } = canceller;
  const timer = setTimeout(() => canceller.abort(tooLate(timeoutMs)), timeoutMs);
  try {
    if (backend.invoke === undefined) throw notInvocable(requested);
    const answer = await backend.invoke(model, method, params, cancel);
    void route.settle('success');
    return answer;
  } catch (error) {
    const isToBlame =
      error instanceof UpstreamFailure && (error.isBackendAtFault || cancel.aborted);
    await route.settle(isToBlame ? 'failure' : 'neutral');
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

const tooLate = (timeoutMs: number): Error =>
  new Error(`the engine took longer than ${timeoutMs} ms`);

const notInvocable = (model: string): ServiceError =>
  new ServiceError(
    'unsupported_operation',
    `the backend of model '${model}' does not support generic invocation`,
  );
