import { abortReason } from '@model-gateway/kernel';
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

/** Sends a request; resolves when the headers of its response arrive, and rejects with an `UpstreamFailure`. */
export function exchange(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  signal: AbortSignal,
): Promise<UpstreamResponse> {
  return new Promise((resolve, reject) => {
    dispatcher.dispatch(request, new Exchange(signal, resolve, reject));
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
  readonly #onAbort = (): void => this.#controller?.abort(abortReason(this.#signal));
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
    signal: AbortSignal,
    onResponse: (response: UpstreamResponse) => void,
    onFailure: (failure: UpstreamFailure) => void,
  ) {
    this.#signal = signal;
    this.#onResponse = onResponse;
    this.#onFailure = onFailure;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#signal.aborted) {
      this.#onAbort();
      return;
    }
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
    this.#settle({});
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    const cause = this.#signal.aborted ? abortReason(this.#signal) : error;
    const failure = upstreamFailed(cause, { hadNoEffect: !this.#isSent });
    if (this.#isAnswered) this.#settle({ failure });
    else {
      this.#signal.removeEventListener('abort', this.#onAbort);
      this.#onFailure(failure);
    }
  }

  #settle(end: { readonly failure?: UpstreamFailure }): void {
    this.#signal.removeEventListener('abort', this.#onAbort);
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
