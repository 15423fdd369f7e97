import { HTTP_SCHEMES, TRANSLATING, type BackendKindDefinition } from '../kind-definition.ts';
import { createLocalServerBackend } from './local-server-backend.ts';

/** A model server with the Ollama-style API. */
export const LOCAL_SERVER: BackendKindDefinition = {
  name: 'local-server',
  aliases: ['ollama', 'ollama-like'],
  schemes: HTTP_SCHEMES,
  capabilities: TRANSLATING,
  options: [],
  facts: { isFree: true, listsAll: true },
  create: ({ name, apiKey }, url, options) =>
    createLocalServerBackend({ ...options, name, url, apiKey }),
};
