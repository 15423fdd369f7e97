import { HTTP_SCHEMES, NO_OPTIONS, type BackendKindDefinition } from '../../src/kind-definition.ts';
import { createToyBackend } from './toy-backend.ts';

/** A kind as the recipe of CONTRIBUTING.md adds one: this folder, and a line of `kinds.ts`. */
export const TOY: BackendKindDefinition = {
  name: 'toy',
  aliases: ['plaything'],
  form: {
    title: 'Toy server',
    purpose: 'A server that answers in lines.',
    exampleUrl: 'http://localhost:7000',
    apiKey: { title: 'Toy key', isUsual: true },
  },
  schemes: HTTP_SCHEMES,
  capabilities: new Set(['chat']),
  options: NO_OPTIONS,
  facts: { isFree: true },
  create: ({ name, apiKey }, url, options) =>
    createToyBackend({ ...options, name, url, apiKey: apiKey ?? '' }),
};
