import { ServiceError } from '@model-gateway/contracts';
import { startPeerTimeout } from '@model-gateway/kernel';
import {
  outcomeOf,
  UpstreamFailure,
  type Lease,
  type Router,
  type TargetName,
} from '@model-gateway/router';
import type { UpstreamTelemetry } from '../upstream/upstream-telemetry.ts';

/** A method of the engine behind a model. */
export interface EngineCall {
  readonly model: string;
  readonly method: string;
  readonly params: unknown;
}

interface InvokeDependencies {
  readonly router: Pick<Router, 'choose'>;
  readonly telemetry: UpstreamTelemetry;
  readonly timeoutMs?: number;
}

const INVOKE_TIMEOUT_MS = 30_000;

/** Calls an engine and returns its result. Tried once, since a failed call may have had effects. */
export async function invokeEngine(
  { model: requested, method, params }: EngineCall,
  { router, telemetry, timeoutMs = INVOKE_TIMEOUT_MS }: InvokeDependencies,
): Promise<unknown> {
  const lease = await chooseInvocable(router, requested);
  const { backend, model } = lease;
  const tracked = telemetry.begin('invoke', backend, model);
  const controller = new AbortController();
  const { signal } = controller;
  const timeout = startPeerTimeout(timeoutMs, () => controller.abort(tooLate(timeoutMs)));
  try {
    const answer = await tracked.run(async () => {
      if (backend.invoke === undefined) throw notInvocable(requested);
      return backend.invoke(model, method, params, signal);
    });
    tracked.end();
    void lease.settle('success');
    return answer;
  } catch (error) {
    tracked.fail(error);
    const isTooLate = error instanceof UpstreamFailure && signal.aborted;
    await lease.settle(isTooLate ? 'failure' : outcomeOf(error));
    throw error;
  } finally {
    timeout.stop();
  }
}

/** A backend that declared this without supporting it is skipped. */
async function chooseInvocable(router: Pick<Router, 'choose'>, model: string): Promise<Lease> {
  const exclude: TargetName[] = [];
  for (;;) {
    const lease = await router.choose(model, { capability: 'invoke', exclude }).catch((error) => {
      const isOther = exclude.length > 0 && error instanceof ServiceError;
      throw isOther ? notInvocable(model) : error;
    });
    if (lease.backend.invoke !== undefined) return lease;
    void lease.settle('neutral');
    exclude.push({ backend: lease.backend.name, model: lease.model });
  }
}

const tooLate = (timeoutMs: number): Error =>
  new Error(`the engine took longer than ${timeoutMs} ms`);

const notInvocable = (model: string): ServiceError =>
  new ServiceError(
    'unsupported_operation',
    `the backend of model '${model}' does not support generic invocation`,
  );
