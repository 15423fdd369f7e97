import { cloudOptions } from '../external/kind.ts';
import { HTTP_SCHEMES, TRANSLATING, type BackendKindDefinition } from '../kind-definition.ts';
import { upstreamPrefix } from '../transport/upstream-url.ts';
import { createAnthropicBackend } from './anthropic-backend.ts';

/** The Messages API of Anthropic, and of servers that copy it. */
export const ANTHROPIC: BackendKindDefinition = {
  name: 'anthropic',
  schemes: HTTP_SCHEMES,
  capabilities: TRANSLATING,
  options: ['auth_header', 'api_keys'],
  facts: {},
  create: (config, url, options) =>
    createAnthropicBackend({ ...cloudOptions(config, url, options), prefix: upstreamPrefix(url) }),
};
