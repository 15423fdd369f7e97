import { cloudOptions } from '../external/kind.ts';
import { HTTP_SCHEMES, TRANSLATING, type BackendKindDefinition } from '../kind-definition.ts';
import { createGeminiBackend } from './gemini-backend.ts';

/** The Gemini API. */
export const GEMINI: BackendKindDefinition = {
  name: 'gemini',
  schemes: HTTP_SCHEMES,
  capabilities: TRANSLATING,
  options: ['auth_header', 'api_keys'],
  facts: {},
  create: (config, url, options) =>
    createGeminiBackend({ ...cloudOptions(config, url, options), url }),
};
