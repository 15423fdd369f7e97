import { PASSING } from '../external/kind.ts';
import { HTTP_SCHEMES, NO_OPTIONS, type BackendKindDefinition } from '../kind-definition.ts';
import { upstreamPrefix } from '../transport/upstream-url.ts';
import { createAgentBackend } from './agent-backend.ts';

/** A model on a GPU node. */
export const AGENT: BackendKindDefinition = {
  name: 'agent',
  form: {
    title: 'GPU node',
    purpose: 'A model that was deployed on a GPU node.',
    exampleUrl: 'http://10.0.0.5:8000/v1',
    apiKey: { title: 'API key', isUsual: false },
  },
  isInternal: true,
  schemes: HTTP_SCHEMES,
  capabilities: PASSING,
  options: NO_OPTIONS,
  facts: { isFree: true, isBounded: true, takesTokenIds: true },
  create: ({ name, apiKey, models }, url, options) =>
    createAgentBackend({ ...options, name, prefix: upstreamPrefix(url), apiKey, models }),
};
