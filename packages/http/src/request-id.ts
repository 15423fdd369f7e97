import type { IncomingMessage, ServerResponse } from 'node:http';
import { newId } from '@model-gateway/kernel';

const HEADER = 'x-request-id';
const ACCEPTED = /^[\x21-\x7e]{1,128}$/;
const ID = Symbol('request id');

/** The id of a request, the caller's own where it sent a usable one; its answer remembers it. */
export function identify(request: IncomingMessage, response: ServerResponse): string {
  const already: unknown = Reflect.get(response, ID);
  if (typeof already === 'string') return already;
  const sent = request.headers[HEADER];
  const id = typeof sent === 'string' && ACCEPTED.test(sent) ? sent : newId();
  Reflect.set(response, ID, id);
  return id;
}

/** The same, echoed on the answer. */
export function requestIdOf(request: IncomingMessage, response: ServerResponse): string {
  const id = identify(request, response);
  if (!response.headersSent) response.setHeader(HEADER, id);
  return id;
}

/**
 * Begins an answer with headers written one after the other, name and value, and with the id of its request. Where no header was set before, this
 * costs a third of setting them one by one.
 */
export function beginAnswer(
  response: ServerResponse,
  status: number,
  headers: readonly string[],
): void {
  const id: unknown = Reflect.get(response, ID);
  const all = typeof id === 'string' ? [...headers, HEADER, id] : [...headers];
  if (response.getHeaderNames().length === 0) {
    response.writeHead(status, all);
    return;
  }
  for (let at = 0; at + 1 < all.length; at += 2)
    response.setHeader(all[at] ?? '', all[at + 1] ?? '');
  response.writeHead(status);
}
