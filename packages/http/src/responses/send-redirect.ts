import type { ServerResponse } from 'node:http';
import { beginResponse } from './begin-response.ts';
import { pageHeaders } from './page-headers.ts';

/** A redirect has the headers of a page: some proxies add a page to it. */
const HEADERS: readonly string[] = Object.entries(pageHeaders('')).flat();

/** Leads a browser to another address; headers that were set before are kept. */
export function sendRedirect(response: ServerResponse, location: string): void {
  const own = ['location', location, 'cache-control', 'no-store', 'content-length', '0'];
  beginResponse(response, 302, [...own, ...HEADERS]);
  response.end();
}
