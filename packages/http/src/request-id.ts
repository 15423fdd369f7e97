import type { IncomingMessage, ServerResponse } from 'node:http';
import { newId } from '@model-gateway/kernel';

const HEADER = 'x-request-id';
const ACCEPTED = /^[\x21-\x7e]{1,128}$/;
const ID = Symbol('request id');

/** An answer that knows the id of its request. */
type Identified = ServerResponse & { [ID]?: string };

/** The id of a request, the caller's own where it sent a usable one; its answer remembers it. */
export function identify(request: IncomingMessage, response: Identified): string {
  const already = response[ID];
  if (already !== undefined) return already;
  const sent = request.headers[HEADER];
  const id = typeof sent === 'string' && ACCEPTED.test(sent) ? sent : newId();
  response[ID] = id;
  return id;
}

/** Whether we chose an id, since its caller sent none that can be used. */
export const isOwnId = (request: IncomingMessage, id: string): boolean =>
  request.headers[HEADER] !== id;

/** The id, echoed on the answer. */
export function requestIdOf(request: IncomingMessage, response: ServerResponse): string {
  const id = identify(request, response);
  if (!response.headersSent) response.setHeader(HEADER, id);
  return id;
}

/** The header that echoes it, as a name and a value; nothing where the answer knows of none. */
export function requestIdHeader(response: Identified): readonly string[] {
  const id = response[ID];
  return id === undefined ? [] : [HEADER, id];
}
