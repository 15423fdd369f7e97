import { cloudOptions } from '../external/kind.ts';
import {
  HTTP_SCHEMES,
  KEY_OPTIONS,
  TRANSLATING,
  type BackendKindDefinition,
} from '../kind-definition.ts';
import { createGeminiBackend } from './gemini-backend.ts';

/** The Gemini API. */
export const GEMINI: BackendKindDefinition = {
  name: 'gemini',
  form: {
    title: 'Google Gemini',
    purpose: 'The Gemini API.',
    exampleUrl: 'https://generativelanguage.googleapis.com',
    apiKey: { title: 'API key', isUsual: true },
  },
  schemes: HTTP_SCHEMES,
  capabilities: TRANSLATING,
  options: KEY_OPTIONS,
  facts: {},
  create: (config, url, options) =>
    createGeminiBackend({ ...cloudOptions(config, url, options), url }),
};
