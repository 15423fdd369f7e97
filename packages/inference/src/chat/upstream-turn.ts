import type { UpstreamTurn } from '@model-gateway/contracts';
import { chatTurn, ownTurn } from '@model-gateway/dialects';
import { UnsupportedByBackend, type Lease } from '@model-gateway/router';
import type { PreparedTurn } from './prepare-turn.ts';
import { upstreamBody } from './upstream-body.ts';

/** A turn for one backend. Refuses a backend for a request that only upstreams of the client's API can take. */
export function upstreamTurn(
  { own, full, added }: Pick<PreparedTurn, 'own' | 'full' | 'added'>,
  { backend, model }: Pick<Lease, 'backend' | 'model'>,
): UpstreamTurn {
  if (own === undefined) return chatTurn(upstreamBody(full, model), added.length);
  const { refusal } = own;
  const isSpoken = [...(backend.dialects ?? [])].some((api) => api === own.api);
  if (refusal !== undefined && !isSpoken)
    throw new UnsupportedByBackend(refusal.code, refusal.message);
  return ownTurn(own, { model, added, chat: () => upstreamBody(full, model) });
}
