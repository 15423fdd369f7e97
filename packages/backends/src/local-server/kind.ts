import {
  HTTP_SCHEMES,
  NO_OPTIONS,
  TRANSLATING,
  type BackendKindDefinition,
} from '../kind-definition.ts';
import { createLocalServerBackend } from './local-server-backend.ts';

/** A model server with the Ollama-style API. */
export const LOCAL_SERVER: BackendKindDefinition = {
  name: 'local-server',
  aliases: ['ollama', 'ollama-like'],
  form: {
    title: 'Ollama',
    purpose: 'Ollama and servers with its API.',
    exampleUrl: 'http://localhost:11434',
    apiKey: { title: 'API key', isUsual: false },
    capabilities: ['chat', 'embeddings'],
  },
  schemes: HTTP_SCHEMES,
  capabilities: TRANSLATING,
  options: NO_OPTIONS,
  facts: { isFree: true, listsAll: true },
  create: ({ name, apiKey }, url, options) =>
    createLocalServerBackend({ ...options, name, url, apiKey }),
};
