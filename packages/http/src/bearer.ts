import type { IncomingMessage } from 'node:http';

/** The bearer credential of a request; the word `bearer` may be in any case. */
export function bearerOf(request: IncomingMessage): string | undefined {
  return /^bearer +(.*\S)/i.exec(request.headers.authorization ?? '')?.[1];
}
