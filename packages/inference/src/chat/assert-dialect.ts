import type { ChatRequest } from '@model-gateway/contracts';
import { refusalFor } from '@model-gateway/dialects';
import { UnsupportedByBackend, type Backend } from '@model-gateway/router';

/** Refuses a backend for a request that only upstreams of the client's API can take. */
export function assertDialect(backend: Pick<Backend, 'dialects'>, request: ChatRequest): void {
  const refusal = refusalFor(backend.dialects, request);
  if (refusal !== undefined) throw new UnsupportedByBackend(refusal.code, refusal.message);
}
