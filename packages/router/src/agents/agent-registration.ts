import { createHmac } from 'node:crypto';
import type { BackendConfig } from '../registry/backend-config-store.ts';
import type { Capability } from '../registry/backend.ts';

/** The capabilities of a model on a node, if its deployment declared no others. */
export const AGENT_CAPABILITIES: readonly Capability[] = ['chat', 'embeddings'];

/** The path below which a tunnel process passes requests on to its nodes. */
export const AGENT_TUNNEL_PATH = '/internal/agents';

/** The name of the backend of a model that nodes serve. */
export const agentBackendName = (modelId: string): string => `agent-${modelId}`;

/** The registration of a model at a node. */
export const agentBackend = (
  modelId: string,
  url: string,
  capabilities: readonly string[] | null = null,
): BackendConfig => ({
  name: agentBackendName(modelId),
  type: 'agent',
  url,
  apiKey: null,
  models: [modelId],
  capabilities,
});

/** The base URL of a model behind the tunnel, at the process that holds the connection of its node. */
export const tunneledUrl = (origin: string, agentId: string, modelId: string): string =>
  `${origin}${AGENT_TUNNEL_PATH}/${agentId}/${encodeURIComponent(modelId)}/v1`;

/** Whether requests to this backend pass through the tunnel. */
export function isTunneled({ type, url }: Pick<BackendConfig, 'type' | 'url'>): boolean {
  return (
    type === 'agent' &&
    URL.canParse(url) &&
    new URL(url).pathname.startsWith(`${AGENT_TUNNEL_PATH}/`)
  );
}

/** The key that routers send to tunnel processes, derived from a secret that only they share. */
export const tunnelKey = (serviceSecret: string): string =>
  createHmac('sha256', serviceSecret).update('agent-tunnel').digest('base64url');
