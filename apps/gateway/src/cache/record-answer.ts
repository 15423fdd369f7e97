import type { ServerResponse } from 'node:http';
import { observeAnswer } from '../surface/observe-answer.ts';

/** What was sent as the answer to a request. */
export interface RecordedAnswer {
  readonly status: number;
  /** Those that belong to the answer and not to its request; names and values alternate. */
  readonly headers: readonly string[];
  /** Undefined for one that is too large. */
  readonly body: Buffer | undefined;
}

const KEPT_HEADERS: ReadonlySet<string> = new Set([
  'content-type',
  'cache-control',
  'x-accel-buffering',
  'x-service-backend',
  'x-service-ignored',
  'x-service-memory',
  'x-service-route',
]);

/** Observes what is written to a response; calls back when its end is written, not when it breaks off. */
export function recordAnswer(
  response: ServerResponse,
  bytesMax: number,
  onEnd: (recorded: RecordedAnswer) => void,
): void {
  const parts: Buffer[] = [];
  let size = 0;
  let headers: readonly string[] = [];

  observeAnswer(response, {
    onHead(given) {
      headers = keptOf(response, given);
    },
    onPart(part) {
      size += typeof part === 'string' ? Buffer.byteLength(part) : part.byteLength;
      // A copy, because what was written may be used again.
      if (size <= bytesMax) parts.push(Buffer.from(part));
      else parts.length = 0;
    },
    onEnd() {
      const body = size > bytesMax ? undefined : Buffer.concat(parts);
      onEnd({ status: response.statusCode, headers, body });
    },
  });
}

/** Headers are set before, or given together: then names and values alternate. */
function keptOf(response: ServerResponse, given: unknown): readonly string[] {
  const kept: string[] = [];
  const add = (name: string, value: string): void => {
    if (KEPT_HEADERS.has(name.toLowerCase())) kept.push(name, value);
  };
  for (const name of response.getHeaderNames()) add(name, String(response.getHeader(name)));
  if (!Array.isArray(given)) return kept;
  for (let at = 0; at + 1 < given.length; at += 2) add(String(given[at]), String(given[at + 1]));
  return kept;
}
