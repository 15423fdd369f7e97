import { registerBackend, type GatewayUnderTest } from '../gateway.ts';
import { KINDS, type Kind } from './kinds.ts';
import type { MatrixUpstream } from './upstreams/wire-server.ts';

/** Makes an upstream a backend that has the name of its kind. */
export async function registerKind(
  gateway: GatewayUnderTest,
  kind: Kind,
  { url }: Pick<MatrixUpstream, 'url'>,
): Promise<void> {
  if (kind === 'agent') {
    // Nodes register themselves; the next registration reads it.
    const none = { apiKey: null, capabilities: null };
    const { backendConfigs } = gateway.test.context.database;
    await backendConfigs.save({ name: kind, type: kind, url, models: ['m'], ...none });
    return;
  }
  const response = await registerBackend(gateway, { name: kind, url, ...KINDS[kind].registration });
  if (!response.ok) throw new Error(`${kind} was not registered: ${await response.text()}`);
}
