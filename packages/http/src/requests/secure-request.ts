import type { IncomingMessage } from 'node:http';
import { trustOf } from './client-ip.ts';
import type { OriginRules } from './origins.ts';

/** Whether the browser that sent a request used https, possibly to a proxy. */
export function createSecureCheck({
  publicUrl,
  trustProxy,
}: Pick<OriginRules, 'publicUrl' | 'trustProxy'>): (request: IncomingMessage) => boolean {
  const isTrusted = trustOf(trustProxy);
  return ({ headers, socket }) => {
    // The page of a request is on this service, so it was sent the same way.
    if (headers.origin !== undefined) return headers.origin.startsWith('https:');
    const forwarded = headers['x-forwarded-proto'];
    if (forwarded !== undefined && isTrusted(socket.remoteAddress ?? '', 0))
      return String(forwarded).split(',')[0]?.trim() === 'https';
    return publicUrl?.startsWith('https:') === true;
  };
}
