import type { IncomingMessage, ServerResponse } from 'node:http';
import { newTimedId } from '@model-gateway/kernel';

const HEADER = 'x-request-id';
const ACCEPTED = /^[\x21-\x7e]{1,128}$/;
const ID = Symbol('request id');

/** A response that carries the id of its request. */
type Identified = ServerResponse & { [ID]?: string };

/** The id of a request, taken from its header where that is valid; stored on the response. */
export function identify(request: IncomingMessage, response: Identified): string {
  const known = response[ID];
  if (known !== undefined) return known;
  const sent = request.headers[HEADER];
  const id = typeof sent === 'string' && ACCEPTED.test(sent) ? sent : newTimedId();
  response[ID] = id;
  return id;
}

/** The id of a request; also sets it as a response header. */
export function requestIdOf(request: IncomingMessage, response: ServerResponse): string {
  const id = identify(request, response);
  if (!response.headersSent) response.setHeader(HEADER, id);
  return id;
}

/** The response header with the id, as a name and a value; empty where the response has no id. */
export function requestIdHeader(response: Identified): readonly string[] {
  const id = response[ID];
  return id === undefined ? [] : [HEADER, id];
}
