import { invokeEngine } from '@model-gateway/inference';
import type { Serving } from '@model-gateway/serving';
import type { Handlers } from '../protocol/handlers.ts';

export function createEngineMethods(
  serving: Pick<Serving, 'router' | 'watch'>,
): Pick<Handlers, 'engine.invoke'> {
  return {
    'engine.invoke': ({ model, method, params = {} }) =>
      invokeEngine({ model, method, params }, serving),
  };
}
