import type { IncomingMessage, ServerResponse } from 'node:http';
import { newId } from '@model-gateway/kernel';

const HEADER = 'x-request-id';
const ACCEPTED = /^[\x21-\x7e]{1,128}$/;

/** The id of a request, the caller's own where it sent a usable one, echoed on the answer. */
export function requestIdOf(request: IncomingMessage, response: ServerResponse): string {
  const already = response.getHeader(HEADER);
  if (typeof already === 'string') return already;
  const sent = request.headers[HEADER];
  const id = typeof sent === 'string' && ACCEPTED.test(sent) ? sent : newId();
  response.setHeader(HEADER, id);
  return id;
}
