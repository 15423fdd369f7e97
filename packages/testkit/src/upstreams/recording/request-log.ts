import type { IncomingHttpHeaders } from 'node:http';
import { createRing } from './ring.ts';

/** One HTTP request as it arrived. */
export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: IncomingHttpHeaders;
  /** The parsed JSON body; the raw text when it was not JSON. */
  readonly body: unknown;
  readonly bodyBytes: number;
}

/** The requests of a server, newest last, limited in number and in bytes. */
export interface RequestLog {
  record(request: RecordedRequest): void;
  readonly requests: readonly RecordedRequest[];
  readonly requestCount: number;
  readonly lastRequest: RecordedRequest | undefined;
}

const KEPT_REQUESTS_MAX = 200;
const KEPT_BYTES_MAX = 32 * 1024 * 1024;

export function createRequestLog(keep = KEPT_REQUESTS_MAX): RequestLog {
  const ring = createRing<RecordedRequest>({
    itemsMax: keep,
    bytesMax: KEPT_BYTES_MAX,
    bytesOf: (request) => request.bodyBytes,
  });
  return {
    record: (request) => ring.push(request),
    get requests() {
      return ring.toArray();
    },
    get requestCount() {
      return ring.count;
    },
    get lastRequest() {
      return ring.last;
    },
  };
}
