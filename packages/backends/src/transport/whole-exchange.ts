import { ServiceError } from '@model-gateway/contracts';
import { abortReason, METERED_BYTES_MIN, type Cancel } from '@model-gateway/kernel';
import type { Dispatcher } from 'undici';
import type { UpstreamFailure } from '@model-gateway/router';
import type { Bounded, Deadline, Deadlines } from './deadlines.ts';
import { upstreamFailed } from '../errors/upstream-error.ts';
import { createAnswerLimits, tooLarge, type AnswerLimits } from './answers/answer-limits.ts';
import {
  COUNTED_BYTES_MIN,
  keepUntilSent,
  type AnswerMemory,
  type AnswerShare,
} from './answers/answer-memory.ts';
import { headerText } from './header-text.ts';
import { decode } from './answers/read-text.ts';
import { compressedError } from './plain-answers.ts';

interface WholeExchangeOptions {
  readonly cancel: Cancel;
  readonly totalMs: number;
  /** The deadlines of all calls with this time limit. */
  readonly deadlines: Deadlines;
  readonly bytesMax: number;
  readonly memory: AnswerMemory | undefined;
  /** Either this or `onFailure` is called, once. */
  readonly onResponse: (response: {
    readonly status: number;
    readonly text: string;
    /** The header of a response without success. */
    readonly retryAfter: string | undefined;
  }) => void;
  readonly onFailure: (failure: UpstreamFailure | ServiceError) => void;
}

const ERROR_BODY_BYTES_MAX = 64 * 1024;

const isSuccess = (status: number): boolean => status >= 200 && status < 300;

/** Handles one call to the end of its response. A class, because there is one per request: methods are created once. */
class WholeExchange implements Dispatcher.DispatchHandler, Bounded {
  readonly #options: WholeExchangeOptions;
  readonly #onAbort: () => void;
  readonly #deadline: Deadline;
  #controller: Dispatcher.DispatchController | undefined;
  #failure: Error | undefined;
  /** Whether the upstream may have a part of the request. */
  #isSent = false;
  #status = 0;
  #retryAfter: string | undefined;
  #isOver = false;
  #size = 0;
  /** Not a number, if the upstream did not say it. */
  #length = Number.NaN;
  #share: AnswerShare | undefined;
  #limits: AnswerLimits | undefined;
  #first: Buffer | undefined;
  #more: Buffer[] | undefined;

  constructor(options: WholeExchangeOptions) {
    this.#options = options;
    const { cancel, deadlines } = options;
    this.#deadline = deadlines.add(this);
    this.#onAbort = () => this.#abort(abortReason(cancel));
    cancel.addEventListener('abort', this.#onAbort, { once: true });
    if (cancel.aborted) this.#failure = abortReason(cancel);
  }

  onTimeout(): void {
    this.#abort(new Error(`the upstream took longer than ${this.#options.totalMs} ms`));
  }

  #abort(reason: Error): void {
    this.#failure ??= reason;
    this.#controller?.abort(reason);
  }

  #leave(): void {
    this.#options.deadlines.remove(this.#deadline);
    this.#options.cancel.removeEventListener('abort', this.#onAbort);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#failure === undefined) this.#isSent = true;
    else controller.abort(this.#failure);
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
  ): void {
    this.#status = status;
    if (!isSuccess(status)) {
      this.#retryAfter = headerText(headers['retry-after']);
      return;
    }
    const compressed = compressedError(status, headers);
    if (compressed !== undefined) this.#abort(compressed);
    this.#length = Number(headers['content-length'] ?? Number.NaN);
    if (this.#length > this.#options.bytesMax) this.#abort(tooLarge(this.#options.bytesMax));
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#size += chunk.length;
    if (this.#first === undefined) {
      this.#first = chunk;
      if (isSuccess(this.#status)) this.#options.cancel.onFirstByte?.();
    } else (this.#more ??= [this.#first]).push(chunk);
    // A truncated response must not look complete, so that it is refused; an error may be truncated.
    if (isSuccess(this.#status)) this.#check(chunk);
    else if (this.#size > ERROR_BODY_BYTES_MAX) {
      this.#end();
      this.#controller?.abort(new Error('the rest of an error is not read'));
    }
  }

  #check(chunk: Buffer): void {
    const refused = this.#refusal(chunk);
    if (refused === undefined) {
      if (this.#size > COUNTED_BYTES_MIN && this.#share === undefined) this.#takeMemory();
      return;
    }
    this.#first = undefined;
    this.#more = undefined;
    this.#abort(refused);
  }

  /** The rest stays in the socket until there is memory for the whole answer. */
  #takeMemory(): void {
    const { memory, bytesMax } = this.#options;
    if (memory === undefined) return;
    const bytes = Number.isNaN(this.#length) ? bytesMax : this.#length;
    const share = memory.take(bytes, (refusal) => {
      if (refusal === undefined) this.#controller?.resume();
      else this.#abort(refusal);
    });
    this.#share = share;
    if (!share.isGranted) this.#controller?.pause();
  }

  #refusal(chunk: Buffer): UpstreamFailure | undefined {
    if (this.#limits !== undefined) return this.#limits.add(chunk);
    const { bytesMax } = this.#options;
    // Most answers are short: for them the size is all that is looked at.
    if (this.#size <= Math.min(bytesMax, METERED_BYTES_MIN)) return undefined;
    this.#limits = createAnswerLimits(bytesMax);
    for (const one of this.#more ?? [chunk]) {
      const refused = this.#limits.add(one);
      if (refused !== undefined) return refused;
    }
    return undefined;
  }

  onResponseEnd(): void {
    this.#end();
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#leave();
    this.#share?.shrink(this.#size);
    if (this.#share !== undefined) keepUntilSent(this.#share, this.#options.cancel);
    const text = this.#text();
    if (typeof text === 'string') this.#respond(text);
    else void text.then((decoded) => this.#respond(decoded));
  }

  #text(): string | Promise<string> {
    if (this.#more !== undefined) return decode(this.#more);
    return this.#first === undefined ? '' : decode([this.#first]);
  }

  #respond(text: string): void {
    this.#options.onResponse({ status: this.#status, text, retryAfter: this.#retryAfter });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#leave();
    this.#share?.release();
    const failure = this.#failure ?? error;
    const hadNoEffect = !this.#isSent;
    this.#options.onFailure(
      failure instanceof ServiceError ? failure : upstreamFailed(failure, { hadNoEffect }),
    );
  }
}

/** Handles one call to the end of its response, within a time and a size. */
export const createWholeExchange = (options: WholeExchangeOptions): Dispatcher.DispatchHandler =>
  new WholeExchange(options);
