import type { IncomingMessage, ServerResponse } from 'node:http';
import { beginResponse } from './begin-response.ts';

/** Sets CORS headers for the configured origins. True when it responded to a preflight request. */
export type Cors = (request: IncomingMessage, response: ServerResponse) => boolean;

const LIMIT_HEADERS = ['requests', 'tokens'].flatMap((unit) =>
  ['limit', 'remaining', 'reset'].map((fact) => `x-ratelimit-${fact}-${unit}`),
);
const EXPOSED_HEADERS = [
  'x-request-id',
  'request-id',
  'x-service-backend',
  'x-service-route',
  'x-service-memory',
  'x-service-cache',
  'x-service-ignored',
  'retry-after',
  'x-should-retry',
  ...LIMIT_HEADERS,
].join(', ');
const PREFLIGHT_MAX_AGE_SECS = 600;

export function createCors(origins: readonly string[]): Cors {
  if (origins.length === 0) return () => false;
  const allowed = new Set(origins);
  return (request, response) => {
    const { origin } = request.headers;
    response.setHeader('vary', 'origin');
    if (origin === undefined || !(allowed.has(origin) || allowed.has('*'))) return false;
    response.setHeader('access-control-allow-origin', origin);
    response.setHeader('access-control-expose-headers', EXPOSED_HEADERS);
    const requestedMethod = request.headers['access-control-request-method'];
    if (request.method !== 'OPTIONS' || requestedMethod === undefined) return false;
    beginResponse(response, 204, [
      'access-control-allow-methods',
      'GET, POST, PUT, PATCH, DELETE',
      'access-control-allow-headers',
      request.headers['access-control-request-headers'] ?? '',
      'access-control-max-age',
      String(PREFLIGHT_MAX_AGE_SECS),
    ]);
    response.end();
    return true;
  };
}

/** Whether a browser can send the text as an origin, or it is `*`; anything else would never match. */
export function isCorsOrigin(text: string): boolean {
  if (text === '*') return true;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isWeb = url?.protocol === 'http:' || url?.protocol === 'https:';
  return isWeb && url.origin === text && !url.hostname.includes('*');
}
