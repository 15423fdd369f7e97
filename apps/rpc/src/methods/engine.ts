import { invokeEngine } from '@model-gateway/inference';
import type { InferenceRuntime } from '@model-gateway/inference-runtime';
import type { Handlers } from '../protocol/handlers.ts';

export function createEngineMethods(
  runtime: Pick<InferenceRuntime, 'router' | 'telemetry'>,
): Pick<Handlers, 'engine.invoke'> {
  return {
    'engine.invoke': ({ model, method, params = {} }) =>
      invokeEngine({ model, method, params }, runtime),
  };
}
