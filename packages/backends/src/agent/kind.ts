import { PASSING } from '../external/kind.ts';
import { HTTP_SCHEMES, type BackendKindDefinition } from '../kind-definition.ts';
import { upstreamPrefix } from '../transport/upstream-url.ts';
import { createAgentBackend } from './agent-backend.ts';

/** A model on a GPU node. */
export const AGENT: BackendKindDefinition = {
  name: 'agent',
  isInternal: true,
  schemes: HTTP_SCHEMES,
  capabilities: PASSING,
  options: [],
  facts: { isFree: true, isBounded: true, takesTokenIds: true },
  create: ({ name, apiKey, models }, url, options) =>
    createAgentBackend({ ...options, name, prefix: upstreamPrefix(url), apiKey, models }),
};
