import type { ServerResponse } from 'node:http';
import { requestIdHeader } from '../requests/request-id.ts';

/** A client that asks again has the same key, account and rights. Some clients would try again for minutes. */
const NEVER_RETRIED: ReadonlySet<number> = new Set([401, 402, 403]);
const NO_HEADERS: readonly string[] = [];
const NO_RETRY: readonly string[] = ['x-should-retry', 'false'];

/** The headers that a status has on every surface; names and values alternate. */
export const statusHeaders = (status: number): readonly string[] =>
  NEVER_RETRIED.has(status) ? NO_RETRY : NO_HEADERS;

/**
 * Writes the status, the headers (names and values alternate) and the request id. Where no header was set before, this
 * costs a third of setting them one by one.
 */
export function beginResponse(
  response: ServerResponse,
  status: number,
  headers: readonly string[],
): void {
  const all = headers.concat(requestIdHeader(response), statusHeaders(status));
  if (response.getHeaderNames().length === 0) {
    response.writeHead(status, all);
    return;
  }
  for (let at = 0; at + 1 < all.length; at += 2)
    response.setHeader(all[at] ?? '', all[at + 1] ?? '');
  response.writeHead(status);
}
