import type { ServerResponse } from 'node:http';

const PLAIN = /^[\x20-\x7e]+$/;

/** Says which backend served a request; a name that does not fit into a header is percent-encoded. */
export function nameBackend(response: ServerResponse, backend: string): void {
  response.setHeader(
    'x-service-backend',
    PLAIN.test(backend) ? backend : encodeURIComponent(backend),
  );
}
