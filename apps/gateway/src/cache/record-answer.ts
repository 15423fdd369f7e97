import type { ServerResponse } from 'node:http';

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
  let hasEnded = false;

  function take(chunk: unknown): void {
    if (typeof chunk !== 'string' && !(chunk instanceof Uint8Array)) return;
    size += typeof chunk === 'string' ? Buffer.byteLength(chunk) : chunk.byteLength;
    // A copy, because what was written may be used again.
    if (size <= bytesMax) parts.push(Buffer.from(chunk));
    else parts.length = 0;
  }

  observe(response, 'writeHead', (args) => {
    headers = keptOf(response, args.at(-1));
  });
  observe(response, 'write', ([chunk]) => take(chunk));
  observe(response, 'end', ([chunk]) => {
    if (hasEnded) return;
    hasEnded = true;
    take(chunk);
    const body = size > bytesMax ? undefined : Buffer.concat(parts);
    onEnd({ status: response.statusCode, headers, body });
  });
}

/** Replaces a method of this response alone, so that others cost nothing. */
function observe(
  response: ServerResponse,
  name: 'writeHead' | 'write' | 'end',
  before: (args: readonly unknown[]) => void,
): void {
  const original: unknown = response[name];
  if (typeof original !== 'function') return;
  Reflect.set(response, name, (...args: readonly unknown[]): unknown => {
    before(args);
    const result: unknown = Reflect.apply(original, response, args);
    return result;
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
