import { AGENT_CAPABILITIES, type Backend } from '@model-gateway/router';
import { createExternalBackend, type ExternalOptions } from '../external/external-backend.ts';

const CAPABILITIES = new Set(AGENT_CAPABILITIES);

/**
 * A model on a GPU node, at the node itself or through the tunnel. Other models of its engine are ignored. A listing that fails
 * with a 5xx means that the engine is still loading, or that the tunnel does not reach the node.
 */
export function createAgentBackend(
  options: Omit<ExternalOptions, 'capabilities' | 'isListingOptional' | 'search'>,
): Backend {
  const { models } = options;
  const backend = createExternalBackend({
    ...options,
    search: '',
    isListingOptional: false,
    capabilities: CAPABILITIES,
  });
  return {
    ...backend,
    kind: 'agent',
    probe: async (signal) => ({ ...(await backend.probe(signal)), models }),
  };
}
