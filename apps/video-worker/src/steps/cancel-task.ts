import type { CancelledTask, UpstreamTelemetry } from '@model-gateway/inference';
import { abortAfter } from '@model-gateway/kernel';
import {
  UpstreamFailure,
  type Backend,
  type Router,
  type VideoCharge,
} from '@model-gateway/router';

/** Asks an upstream to cancel a task. Undefined when it has not answered, and may be asked again. */
export type CancelTask = (
  task: Pick<CancelledTask, 'backend' | 'taskId'>,
) => Promise<VideoCharge | undefined>;

interface CancelTaskDependencies {
  readonly router: Pick<Router, 'use'>;
  readonly telemetry: UpstreamTelemetry;
  /** Aborted when this worker stops: other workers continue. */
  readonly stopping: AbortSignal;
}

const CANCEL_TIMEOUT_MS = 10_000;

export function createCancelTask(dependencies: CancelTaskDependencies): CancelTask {
  const { router, telemetry, stopping } = dependencies;

  async function ask(backend: Backend, taskId: string): Promise<VideoCharge> {
    // Not every upstream can cancel.
    if (backend.cancelVideo === undefined) return 'nothing';
    const call = telemetry.begin('video', backend, undefined);
    const asking = backend.cancelVideo.bind(backend, taskId);
    try {
      const charge = await call.run(() => abortAfter(CANCEL_TIMEOUT_MS, stopping, asking));
      call.end();
      return charge;
    } catch (failure) {
      if (stopping.aborted) call.leave();
      else call.fail(failure);
      throw failure;
    }
  }

  return async ({ backend: name, taskId }) => {
    const used = router.use(name);
    // The backend may be registered again.
    if (used === undefined) return undefined;
    try {
      return await ask(used.backend, taskId);
    } catch (failure) {
      return isAnswer(failure) ? 'nothing' : undefined;
    } finally {
      used.release();
    }
  };
}

/** An upstream that refuses, or answers something else, will not answer differently later. */
const isAnswer = (failure: unknown): boolean =>
  failure instanceof UpstreamFailure && (!failure.isBackendAtFault || failure.wasUnreadable);
