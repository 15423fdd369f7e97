import type { IncomingMessage } from 'node:http';
import { constantTimeEqual } from '@model-gateway/kernel';
import { bearerOf } from './bearer.ts';
import { createClientIp } from './client-ip.ts';
import { isLoopback } from './origins.ts';

/** Metrics for clients on the same machine and for those with one of the tokens. */
export function createMetricsGate(
  tokens: readonly (string | undefined)[],
  trustProxy: string,
): (request: IncomingMessage) => boolean {
  const clientIp = createClientIp(trustProxy);
  return (request) => {
    if (isLoopback(clientIp(request).replace(/^::ffff:/, ''))) return true;
    const bearer = bearerOf(request);
    return tokens.some(
      (token) => token !== undefined && bearer !== undefined && constantTimeEqual(bearer, token),
    );
  };
}
