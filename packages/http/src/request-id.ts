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

/** The header that echoes it, as a name and a value; nothing where the answer knows of none. */
export function requestIdHeader(response: ServerResponse): readonly string[] {
  const id: unknown = Reflect.get(response, ID);
  return typeof id === 'string' ? [HEADER, id] : [];
}
