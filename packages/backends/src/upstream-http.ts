import { Pool, type Dispatcher } from 'undici';
import { upstreamFailed } from './upstream-error.ts';

/** How long an upstream may take. */
export interface UpstreamTimeouts {
  readonly connectMs: number;
  /** No byte for this long is a failure. */
  readonly idleMs: number;
  /** A whole answer that is not streamed. */
  readonly totalMs: number;
}

interface UpstreamRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal: AbortSignal;
}

/** An answer whose body is read as it is iterated: what nobody asks for stays in the upstream's socket. */
export interface UpstreamResponse {
  readonly status: number;
  readonly contentType: string;
  readonly body: AsyncIterable<Buffer>;
}

/** HTTP to one upstream, kept alive, at the lowest cost per call that Node offers. Redirects are not followed. */
export interface UpstreamHttp {
  request(request: UpstreamRequest): Promise<UpstreamResponse>;
  close(): Promise<void>;
}

const QUEUED_BYTES_MAX = 64 * 1024;

export function createUpstreamHttp(origin: string, timeouts: UpstreamTimeouts): UpstreamHttp {
  const pool = new Pool(origin, {
    connect: { timeout: timeouts.connectMs },
    headersTimeout: timeouts.idleMs,
    bodyTimeout: timeouts.idleMs,
    pipelining: 1,
  });
  return {
    request: ({ method, path, headers, body, signal }) =>
      new Promise((resolve, reject) => {
        const exchange = createExchange(signal, resolve, (error) => reject(upstreamFailed(error)));
        pool.dispatch({ origin, method, path, headers, body: body ?? null }, exchange);
      }),
    close: () => pool.destroy(),
  };
}

/** Follows one call: settles when the headers are there, then hands over the body chunk by chunk. */
function createExchange(
  signal: AbortSignal,
  onResponse: (response: UpstreamResponse) => void,
  onFailure: (error: unknown) => void,
): Dispatcher.DispatchHandler {
  const body = createBody();
  let isAnswered = false;
  const fail = (error: unknown) => {
    signal.removeEventListener('abort', onAbort);
    if (isAnswered) body.fail(upstreamFailed(error));
    else onFailure(error);
  };
  let abort = (): void => undefined;
  const onAbort = () => abort();
  return {
    onRequestStart(controller) {
      abort = () => controller.abort(abortReason(signal));
      if (signal.aborted) abort();
      else signal.addEventListener('abort', onAbort, { once: true });
    },
    onResponseStart(controller, status, headers) {
      // An informational answer, such as 100, announces the real one.
      if (status < 200) return;
      isAnswered = true;
      body.connect({
        pause: () => controller.pause(),
        resume: () => controller.resume(),
        abort: () => controller.abort(new Error('nobody reads the answer any more')),
      });
      onResponse({ status, contentType: String(headers['content-type'] ?? ''), body });
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

function abortReason(signal: AbortSignal): Error {
  return signal.reason instanceof Error ? signal.reason : new Error('the call was aborted');
}

interface Flow {
  pause(): void;
  resume(): void;
  abort(): void;
}

interface Body extends AsyncIterable<Buffer> {
  connect(flow: Flow): void;
  push(chunk: Buffer): void;
  end(): void;
  fail(error: unknown): void;
}

/** A queue between the socket and one reader; the socket is paused while the reader is behind. */
function createBody(): Body {
  const queue: Buffer[] = [];
  let queued = 0;
  let flow: Flow | undefined;
  let isPaused = false;
  let ending: { readonly error?: unknown } | undefined;
  let wake: (() => void) | undefined;

  const settle = (how: { readonly error?: unknown }) => {
    ending ??= how;
    wake?.();
  };

  function take(): Buffer | undefined {
    const chunk = queue.shift();
    if (chunk === undefined) return undefined;
    queued -= chunk.length;
    if (isPaused && queued < QUEUED_BYTES_MAX) {
      isPaused = false;
      flow?.resume();
    }
    return chunk;
  }

  async function next(): Promise<IteratorResult<Buffer>> {
    for (;;) {
      const chunk = take();
      if (chunk !== undefined) return { done: false, value: chunk };
      if (ending !== undefined) {
        if ('error' in ending) throw ending.error;
        return { done: true, value: undefined };
      }
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
      wake = undefined;
    }
  }

  return {
    connect: (connected) => {
      flow = connected;
    },
    push(chunk) {
      queue.push(chunk);
      queued += chunk.length;
      if (!isPaused && queued >= QUEUED_BYTES_MAX) {
        isPaused = true;
        flow?.pause();
      }
      wake?.();
    },
    end: () => settle({}),
    fail: (error) => settle({ error }),
    [Symbol.asyncIterator]: () => ({
      next,
      async return() {
        queue.length = 0;
        if (ending === undefined) flow?.abort();
        return { done: true, value: undefined };
      },
    }),
  };
}
