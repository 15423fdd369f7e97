import { cloudOptions } from '../external/kind.ts';
import {
  HTTP_SCHEMES,
  KEY_OPTIONS,
  TRANSLATING,
  type BackendKindDefinition,
} from '../kind-definition.ts';
import { upstreamPrefix } from '../transport/upstream-url.ts';
import { createAnthropicBackend } from './anthropic-backend.ts';

/** The Messages API of Anthropic, and of servers that copy it. */
export const ANTHROPIC: BackendKindDefinition = {
  name: 'anthropic',
  form: {
    title: 'Anthropic',
    purpose: 'The Messages API of Anthropic, and servers that copy it.',
    exampleUrl: 'https://api.anthropic.com',
    apiKey: { title: 'API key', isUsual: true },
  },
  schemes: HTTP_SCHEMES,
  capabilities: TRANSLATING,
  options: KEY_OPTIONS,
  facts: {},
  create: (config, url, options) =>
    createAnthropicBackend({ ...cloudOptions(config, url, options), prefix: upstreamPrefix(url) }),
};
