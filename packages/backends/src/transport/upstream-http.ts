import { Readable } from 'node:stream';
import type { Tracing } from '@model-gateway/kernel';
import type { AnswerWatch, StreamedBody } from '@model-gateway/router';
import { Pool } from 'undici';
import type { AnswerMemory } from './answers/answer-memory.ts';
import { readText, readTextAnswer } from './answers/read-text.ts';
import { exchange, type UpstreamResponse } from './exchange.ts';
import { upstreamAddress } from './upstream-address.ts';

export type { UpstreamResponse } from './exchange.ts';

/** How long an upstream may take. */
export interface UpstreamTimeouts {
  readonly connectMs: number;
  /** A streamed response is a failure when no byte of it arrives for this long. */
  readonly idleMs: number;
  /** A whole response that is not streamed. */
  readonly totalMs: number;
  /** How long an unused connection is kept, unless the upstream's `keep-alive` header says less. */
  readonly keepAliveMs?: number;
}

interface UpstreamRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | StreamedBody;
  readonly signal: AbortSignal;
  readonly watch?: AnswerWatch | undefined;
  /** The response is not streamed, so that the upstream may be silent until the total time is over. */
  readonly isWhole?: boolean;
}

/** A complete response. */
export interface WholeResponse {
  readonly status: number;
  readonly text: string;
  /** The header of that name. */
  readonly retryAfter?: string | undefined;
}

/** HTTP to one upstream, kept alive, with the lowest cost per call. Redirects are not followed. */
export interface UpstreamHttp {
  request(request: UpstreamRequest): Promise<UpstreamResponse>;
  /** Rejects when the response is larger than that, or not complete in the total time. */
  requestWhole(request: UpstreamRequest, bytesMax: number): Promise<WholeResponse>;
  close(): Promise<void>;
}

interface UpstreamHttpOptions {
  readonly tracing?: Tracing | undefined;
  /** Limits the memory of the answers of all upstreams together. */
  readonly answerMemory?: AnswerMemory | undefined;
}

export function createUpstreamHttp(
  origin: string,
  timeouts: UpstreamTimeouts,
  { tracing, answerMemory }: UpstreamHttpOptions = {},
): UpstreamHttp {
  const address = upstreamAddress(origin);
  const { idleMs, totalMs, keepAliveMs = KEEP_ALIVE_MS } = timeouts;
  const pool = new Pool(origin, {
    connect: { timeout: timeouts.connectMs },
    keepAliveTimeout: keepAliveMs,
    keepAliveMaxTimeout: keepAliveMs,
    pipelining: 1,
  });

  function tracedHeaders(headers: UpstreamRequest['headers']): UpstreamRequest['headers'] {
    if (tracing === undefined) return headers;
    tracing.annotate(address);
    return { ...headers, ...tracing.headers() };
  }

  function send(request: UpstreamRequest, hasTotal = false): Promise<UpstreamResponse> {
    const { method, path, headers, body, signal, isWhole = false } = request;
    const silenceMs = isWhole ? totalMs : idleMs;
    const sent = {
      origin,
      method,
      path,
      headers: tracedHeaders(headers),
      body: dispatchedBody(body),
      headersTimeout: silenceMs,
      bodyTimeout: silenceMs,
    };
    return exchange(pool, sent, { signal, totalMs: hasTotal ? totalMs : undefined });
  }

  return {
    request: (request) => send(request),
    async requestWhole(request, bytesMax) {
      const { signal, watch } = request;
      const answer = await send({ ...request, isWhole: true }, true);
      const { status, retryAfter, length, body } = answer;
      const limits = { bytesMax, length, memory: answerMemory, signal, watch };
      const text = isSuccess(status)
        ? await readTextAnswer(body, limits)
        : await readText(body, ERROR_BODY_BYTES_MAX);
      return { status, text, retryAfter };
    },
    close: () => pool.destroy(),
  };
}

const KEEP_ALIVE_MS = 60_000;
const ERROR_BODY_BYTES_MAX = 64 * 1024;

/** Whether the status of an answer is one of success. */
export const isSuccess = (status: number): boolean => status >= 200 && status < 300;

/** The client ends the stream when the call ends early, which ends its source. */
function dispatchedBody(body: UpstreamRequest['body']): string | Readable | null {
  if (body === undefined || typeof body === 'string') return body ?? null;
  return Readable.from(body.bytes, { objectMode: false });
}
