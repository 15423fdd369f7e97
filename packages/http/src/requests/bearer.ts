import type { IncomingMessage } from 'node:http';

const SCHEME = 'bearer ';

/** Other headers for an API key; read only where there is no `Authorization` header. */
const KEY_HEADERS = ['x-api-key', 'api-key'];

/** The API key of a request: its bearer credential, or that of another header that clients use for keys. */
export function apiKeyOf(request: IncomingMessage): string | undefined {
  const { headers } = request;
  if (headers.authorization !== undefined) return bearerOf(request);
  for (const name of KEY_HEADERS) {
    const value = headers[name];
    if (typeof value === 'string' && value.trim() !== '') return value.trim();
  }
  return undefined;
}

/** The bearer credential of a request; the word `bearer` may be in any case. */
export function bearerOf(request: IncomingMessage): string | undefined {
  const { authorization = '' } = request.headers;
  if (authorization.slice(0, SCHEME.length).toLowerCase() !== SCHEME) return undefined;
  const credential = authorization.slice(SCHEME.length).trim();
  return credential === '' ? undefined : credential;
}
