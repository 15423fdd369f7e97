import { Readable } from 'node:stream';
import { abortReason, type Cancel, type Tracing } from '@model-gateway/kernel';
import type { StreamedBody, UpstreamFailure } from '@model-gateway/router';
import { Pool, type Dispatcher } from 'undici';
import type { AnswerMemory } from './answers/answer-memory.ts';
import { createDeadlines } from './deadlines.ts';
import { headerText } from './header-text.ts';
import { upstreamAddress } from './upstream-address.ts';
import { createBody } from './answers/upstream-body-queue.ts';
import { upstreamFailed } from '../errors/upstream-error.ts';
import { createWholeExchange } from './whole-exchange.ts';
import { compressedError } from './plain-answers.ts';

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
  readonly body?: string | Buffer | StreamedBody;
  readonly signal: Cancel;
  /** The response is not streamed, so that the upstream may be silent until the total time is over. */
  readonly isWhole?: boolean;
}

/** A response whose body is read by iterating: the rest stays in the upstream's socket. */
export interface UpstreamResponse {
  readonly status: number;
  readonly contentType: string;
  /** The header of that name. */
  readonly retryAfter: string | undefined;
  readonly body: AsyncIterable<Buffer>;
}

/** A complete response. */
export interface WholeResponse {
  readonly status: number;
  readonly text: string;
  /** The header of that name, of a response without success. */
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

  const deadlines = createDeadlines(totalMs);

  function tracedHeaders(headers: UpstreamRequest['headers']): UpstreamRequest['headers'] {
    if (tracing === undefined) return headers;
    tracing.annotate(address);
    return { ...headers, ...tracing.headers() };
  }

  function dispatch(
    { method, path, headers, body, isWhole = false }: UpstreamRequest,
    handler: Dispatcher.DispatchHandler,
  ): void {
    const silenceMs = isWhole ? totalMs : idleMs;
    pool.dispatch(
      {
        origin,
        method,
        path,
        headers: tracedHeaders(headers),
        body: dispatchedBody(body),
        headersTimeout: silenceMs,
        bodyTimeout: silenceMs,
      },
      handler,
    );
  }

  return {
    request: (request) =>
      new Promise((resolve, reject) => {
        dispatch(request, createExchange(request.signal, resolve, reject));
      }),
    requestWhole: (request, bytesMax) =>
      new Promise((resolve, reject) => {
        const handler = createWholeExchange({
          cancel: request.signal,
          totalMs,
          deadlines,
          bytesMax,
          memory: answerMemory,
          onResponse: resolve,
          onFailure: reject,
        });
        dispatch({ ...request, isWhole: true }, handler);
      }),
    close: () => pool.destroy(),
  };
}

const KEEP_ALIVE_MS = 60_000;

/** The client ends the stream when the call ends early, which ends its source. */
function dispatchedBody(body: UpstreamRequest['body']): string | Buffer | Readable | null {
  if (body === undefined || typeof body === 'string' || Buffer.isBuffer(body)) return body ?? null;
  return Readable.from(body.bytes, { objectMode: false });
}

/** Handles one call: settles when the headers arrive, then delivers the body chunk by chunk. */
function createExchange(
  signal: Cancel,
  onResponse: (response: UpstreamResponse) => void,
  onFailure: (error: UpstreamFailure) => void,
): Dispatcher.DispatchHandler {
  const body = createBody();
  let isSent = false;
  let isAnswered = false;
  const fail = (error: unknown) => {
    signal.removeEventListener('abort', onAbort);
    if (isAnswered) body.fail(upstreamFailed(error));
    else onFailure(upstreamFailed(error, { hadNoEffect: !isSent }));
  };
  let abort = (): void => undefined;
  const onAbort = () => abort();
  return {
    onRequestStart(controller) {
      abort = () => controller.abort(abortReason(signal));
      if (signal.aborted) {
        abort();
        return;
      }
      isSent = true;
      signal.addEventListener('abort', onAbort, { once: true });
    },
    onResponseStart(controller, status, headers) {
      // An informational response, such as 100, precedes the real one.
      if (status < 200) return;
      const compressed = compressedError(status, headers);
      if (compressed !== undefined) {
        controller.abort(compressed);
        return;
      }
      isAnswered = true;
      body.connect({
        pause: () => controller.pause(),
        resume: () => controller.resume(),
        abort: () => controller.abort(new Error('the response is not read any more')),
      });
      onResponse({
        status,
        contentType: String(headers['content-type'] ?? ''),
        retryAfter: headerText(headers['retry-after']),
        body,
      });
    },
    onResponseData(_controller, chunk) {
      body.push(chunk);
    },
    onResponseEnd() {
      signal.removeEventListener('abort', onAbort);
      body.end();
    },
    onResponseError(_controller, error) {
      fail(error);
    },
  };
}
