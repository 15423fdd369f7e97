import { AGENT_CAPABILITIES, type Backend } from '@model-gateway/router';
import { createExternalBackend, type ExternalOptions } from '../external/external-backend.ts';

const CAPABILITIES = new Set(AGENT_CAPABILITIES);

/** A model on a GPU node, at the node itself or through the tunnel. Other models of its engine are ignored. */
export function createAgentBackend(options: Omit<ExternalOptions, 'capabilities'>): Backend {
  const { models } = options;
  const backend = createExternalBackend({ ...options, capabilities: CAPABILITIES });
  return {
    ...backend,
    kind: 'agent',
    probe: async (signal) => ({ ...(await backend.probe(signal)), models }),
  };
}
