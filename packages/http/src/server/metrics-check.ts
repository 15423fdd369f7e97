import type { IncomingMessage } from 'node:http';
import { constantTimeEqual } from '@model-gateway/kernel';
import { bearerOf } from '../requests/bearer.ts';
import { isDirectLoopback } from '../requests/direct-loopback.ts';

/** Metrics for clients on the same machine that use no proxy, and for those with one of the tokens. */
export function createMetricsCheck(
  tokens: readonly (string | undefined)[],
): (request: IncomingMessage) => boolean {
  return (request) => {
    if (isDirectLoopback(request)) return true;
    const bearer = bearerOf(request);
    return tokens.some(
      (token) => token !== undefined && bearer !== undefined && constantTimeEqual(bearer, token),
    );
  };
}
