import type { ServerResponse } from 'node:http';
import { endsWithEvent } from '@model-gateway/http';
import type { StreamCut } from '@model-gateway/inference';
import type { HttpAnswer } from '../surface/http-answer.ts';

/** How events are sent. */
export interface EventOptions {
  /** Those that are known before anything is served; names and values alternate. */
  readonly headers: readonly string[];
  readonly disconnected: AbortSignal;
  /** After this time without anything sent, a sign of life is sent, again and again; 0: never. */
  readonly silenceMs: number;
  /** What tells the client that its answer is being made. */
  readonly alive: () => string;
  /** The last event of an answer that failed after it was opened. */
  readonly fail: (failure: unknown) => string | Buffer;
  /** Whether that event alone tells clients that the answer is not whole; otherwise the connection closes, too. */
  readonly isFailureEnough?: boolean | undefined;
}

/** Where the events of an answer go. */
export interface EventSink {
  /** Sends the status and the headers, unless a sign of life opened the answer before: then it is too late for these. */
  open(headers: readonly string[]): void;
  /** Returns a promise while the client has to catch up. */
  write(events: Buffer | string): Promise<void> | undefined;
  /** Passes a sign of life of the upstream on, unless the answer is not open yet. */
  pass(sign: Buffer): boolean;
}

/** So that nothing between the service and the client holds events back. */
export const EVENT_HEADERS: readonly string[] = [
  'cache-control',
  'no-cache, no-transform',
  'x-accel-buffering',
  'no',
];
const STREAM_HEADERS: readonly string[] = [
  'content-type',
  'text/event-stream; charset=utf-8',
  ...EVENT_HEADERS,
];

/** What is left to say when `serve` has sent the events of an answer: the last ones, or why there are none. */
type Ending = string | StreamCut;

/**
 * Sends server-sent events as they arrive, at the speed that the client reads, and then the last ones. An answer that fails
 * after it was opened breaks off with the event of its failure.
 */
export async function sendEvents(
  answer: HttpAnswer,
  options: EventOptions,
  serve: (sink: EventSink) => Promise<Ending>,
): Promise<void> {
  const sink = new ResponseSink(answer, options);
  try {
    const ending = await serve(sink);
    if (typeof ending === 'string') answer.end(ending);
    else answer.breakOff(ending.failure);
  } finally {
    sink.close();
  }
}

/** A class, because there is one for each stream. */
class ResponseSink implements EventSink {
  readonly #answer: HttpAnswer;
  readonly #response: ServerResponse;
  readonly #options: EventOptions;
  readonly #silence: NodeJS.Timeout | undefined;

  constructor(answer: HttpAnswer, options: EventOptions) {
    const { silenceMs } = options;
    this.#answer = answer;
    this.#response = answer.response;
    this.#options = options;
    if (silenceMs > 0) this.#silence = setTimeout(() => this.#breakSilence(), silenceMs);
  }

  open(headers: readonly string[]): void {
    if (this.#answer.isBegun) return;
    this.#answer.begin([...this.#options.headers, ...headers, ...STREAM_HEADERS]);
    this.#response.socket?.setNoDelay(true);
    const { fail, isFailureEnough: isEnough } = this.#options;
    endsWithEvent(this.#response, fail, { isEnough });
  }

  write(events: Buffer | string): Promise<void> | undefined {
    if (events.length === 0) return undefined;
    this.#silence?.refresh();
    return this.#answer.write(events) ? undefined : drained(this.#response, this.#options);
  }

  pass(sign: Buffer): boolean {
    const isOpen = this.#answer.isBegun;
    if (isOpen && !this.#response.writableNeedDrain) this.#answer.write(sign);
    return isOpen;
  }

  close(): void {
    clearTimeout(this.#silence);
  }

  #breakSilence(): void {
    if (this.#options.disconnected.aborted) return;
    // A client that has to catch up is not waiting.
    if (!this.#response.writableNeedDrain) {
      this.open([]);
      this.#answer.write(this.#options.alive());
    }
    this.#silence?.refresh();
  }
}

/** Resolves when the client has caught up or has disconnected. */
export function drained(
  response: ServerResponse,
  { disconnected }: Pick<EventOptions, 'disconnected'>,
): Promise<void> {
  if (disconnected.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const onEither = () => {
      response.off('drain', onEither);
      disconnected.removeEventListener('abort', onEither);
      resolve();
    };
    response.once('drain', onEither);
    disconnected.addEventListener('abort', onEither, { once: true });
  });
}
