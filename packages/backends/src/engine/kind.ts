import { TRANSLATING, type BackendKindDefinition } from '../kind-definition.ts';
import { createEngineBackend } from './engine-backend.ts';

/** An engine that speaks the engine protocol over a WebSocket. */
export const ENGINE: BackendKindDefinition = {
  name: 'engine',
  aliases: ['candle', 'native'],
  schemes: ['ws:', 'wss:'],
  capabilities: TRANSLATING,
  options: [],
  facts: { isFree: true },
  create: ({ name, apiKey, models }, url, options) =>
    createEngineBackend({ ...options, name, url, apiKey, models }),
};
