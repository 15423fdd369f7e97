import type { IncomingMessage } from 'node:http';

const SCHEME = 'bearer ';

/** The bearer credential of a request; the word `bearer` may be in any case. */
export function bearerOf(request: IncomingMessage): string | undefined {
  const { authorization = '' } = request.headers;
  if (authorization.slice(0, SCHEME.length).toLowerCase() !== SCHEME) return undefined;
  const credential = authorization.slice(SCHEME.length).trim();
  return credential === '' ? undefined : credential;
}
