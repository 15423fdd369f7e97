import { invokeEngine } from '@model-gateway/inference';
import { WORK } from '../audit/audit-rule.ts';
import type { HandlersOf } from '../protocol/handlers.ts';
import type { Services } from '../services.ts';

export function createEngineMethods({ runtime }: Services): HandlersOf<'engine'> {
  return {
    'engine.invoke': {
      audit: WORK,
      handle: ({ model, method, params = {} }) => invokeEngine({ model, method, params }, runtime),
    },
  };
}
