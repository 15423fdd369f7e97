import { NO_OPTIONS, TRANSLATING, type BackendKindDefinition } from '../kind-definition.ts';
import { createEngineBackend } from './engine-backend.ts';

/** An engine that speaks the engine protocol over a WebSocket. */
export const ENGINE: BackendKindDefinition = {
  name: 'engine',
  aliases: ['candle', 'native'],
  form: {
    title: 'Engine over WebSocket',
    purpose: 'An engine of your own, over one WebSocket.',
    exampleUrl: 'ws://localhost:9000',
    apiKey: { title: 'API key', isUsual: false },
  },
  schemes: ['ws:', 'wss:'],
  capabilities: TRANSLATING,
  options: NO_OPTIONS,
  facts: { isFree: true },
  create: ({ name, apiKey, models }, url, options) =>
    createEngineBackend({ ...options, name, url, apiKey, models }),
};
