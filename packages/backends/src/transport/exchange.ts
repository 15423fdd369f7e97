import { abortReason, startPeerTimeout, type PeerTimeout } from '@model-gateway/kernel';
import type { UpstreamFailure } from '@model-gateway/router';
import type { Dispatcher } from 'undici';
import { upstreamFailed } from '../errors/upstream-error.ts';
import { compressedError } from './plain-answers.ts';

/** A response whose body is read by iterating: the rest stays in the upstream's socket. */
export interface UpstreamResponse {
  readonly status: number;
  readonly contentType: string;
  /** How long the body is, if the upstream said it. */
  readonly length: number | undefined;
  /** The header of that name. */
  readonly retryAfter: string | undefined;
  /** For one reader. If it stops early, the connection is closed. */
  readonly body: AsyncIterable<Buffer>;
}

interface ExchangeOptions {
  readonly signal: AbortSignal;
  /** How long everything may take, to the end of the body. */
  readonly totalMs?: number | undefined;
}

/** Sends a request; resolves when the headers of its response arrive, and rejects with an `UpstreamFailure`. */
export function exchange(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  options: ExchangeOptions,
): Promise<UpstreamResponse> {
  return new Promise((resolve, reject) => {
    dispatcher.dispatch(request, new Exchange(options, resolve, reject));
  });
}

/** More bytes than these wait in the socket until the reader is ready. */
const QUEUED_BYTES_MAX = 64 * 1024;
const OVER = { done: true, value: undefined } as const;

type Next = IteratorResult<Buffer, undefined>;

interface Reader {
  readonly resolve: (next: Next) => void;
  readonly reject: (failure: UpstreamFailure) => void;
}

/**
 * One request with its response, and the queue between the socket and the reader. Not undici's own `request`: its body, a
 * stream of Node, costs each token of a stream a fifth more, and it does not say whether a request was sent.
 */
class Exchange implements Dispatcher.DispatchHandler, AsyncIterable<Buffer> {
  readonly #signal: AbortSignal;
  readonly #onResponse: (response: UpstreamResponse) => void;
  readonly #onFailure: (failure: UpstreamFailure) => void;
  readonly #onAbort = (): void => this.#abort(abortReason(this.#signal));
  readonly #timeout: PeerTimeout | undefined;
  /** Why it was given up. */
  #reason: Error | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  /** Whether the upstream may have a part of the request. */
  #isSent = false;
  #isAnswered = false;
  readonly #queue: Buffer[] = [];
  #queuedBytes = 0;
  #isPaused = false;
  /** Waits for the next chunk. */
  #reader: Reader | undefined;
  /** The end of the body; with a failure if it was cut off. */
  #end: { readonly failure?: UpstreamFailure } | undefined;

  constructor(
    { signal, totalMs }: ExchangeOptions,
    onResponse: (response: UpstreamResponse) => void,
    onFailure: (failure: UpstreamFailure) => void,
  ) {
    this.#signal = signal;
    this.#onResponse = onResponse;
    this.#onFailure = onFailure;
    if (totalMs === undefined) return;
    this.#timeout = startPeerTimeout(totalMs, () =>
      this.#abort(new Error(`the upstream took longer than ${totalMs} ms`)),
    );
  }

  #abort(reason: Error): void {
    this.#reason ??= reason;
    this.#controller?.abort(this.#reason);
  }

  #leave(): void {
    this.#timeout?.stop();
    this.#signal.removeEventListener('abort', this.#onAbort);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#signal.aborted) this.#onAbort();
    else if (this.#reason !== undefined) controller.abort(this.#reason);
    if (this.#reason !== undefined) return;
    this.#isSent = true;
    this.#signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
  ): void {
    // An informational response, such as 100, precedes the real one.
    if (status < 200) return;
    const compressed = compressedError(status, headers);
    if (compressed !== undefined) {
      controller.abort(compressed);
      return;
    }
    this.#isAnswered = true;
    const length = firstOf(headers['content-length']);
    this.#onResponse({
      status,
      contentType: String(headers['content-type'] ?? ''),
      length: length === undefined ? undefined : Number(length),
      retryAfter: firstOf(headers['retry-after']),
      body: this,
    });
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const reader = this.#reader;
    // Most tokens are awaited.
    if (reader !== undefined) {
      this.#reader = undefined;
      reader.resolve({ done: false, value: chunk });
      return;
    }
    this.#queue.push(chunk);
    this.#queuedBytes += chunk.length;
    if (this.#isPaused || this.#queuedBytes < QUEUED_BYTES_MAX) return;
    this.#isPaused = true;
    controller.pause();
  }

  onResponseEnd(): void {
    this.#leave();
    this.#settle({});
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    const failure = upstreamFailed(this.#reason ?? error, { hadNoEffect: !this.#isSent });
    this.#leave();
    if (this.#isAnswered) this.#settle({ failure });
    else this.#onFailure(failure);
  }

  #settle(end: { readonly failure?: UpstreamFailure }): void {
    this.#end ??= end;
    if (this.#reader === undefined) return;
    const { resolve, reject } = this.#reader;
    this.#reader = undefined;
    if (end.failure === undefined) resolve(OVER);
    else reject(end.failure);
  }

  [Symbol.asyncIterator](): AsyncIterator<Buffer, undefined> {
    return this;
  }

  next(): Promise<Next> {
    const chunk = this.#queue.shift();
    if (chunk !== undefined) {
      this.#queuedBytes -= chunk.length;
      if (this.#isPaused && this.#queuedBytes < QUEUED_BYTES_MAX) {
        this.#isPaused = false;
        this.#controller?.resume();
      }
      return Promise.resolve({ done: false, value: chunk });
    }
    if (this.#end === undefined) {
      return new Promise((resolve, reject) => {
        this.#reader = { resolve, reject };
      });
    }
    const { failure } = this.#end;
    return failure === undefined ? Promise.resolve(OVER) : Promise.reject(failure);
  }

  return(): Promise<Next> {
    this.#queue.length = 0;
    if (this.#end === undefined)
      this.#controller?.abort(new Error('the response is not read any more'));
    return Promise.resolve(OVER);
  }
}

/** The first value of a header. */
const firstOf = (value: string | readonly string[] | undefined): string | undefined =>
  typeof value === 'string' ? value : value?.[0];
