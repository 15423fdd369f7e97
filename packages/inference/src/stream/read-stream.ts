import type { AnswerPart } from '@model-gateway/contracts';
import { CHAT_API } from '@model-gateway/dialects';
import { describeError, readToEnd } from '@model-gateway/kernel';
import type { UpstreamFailure, UpstreamStream } from '@model-gateway/router';
import { brokenOff, brokenOffBy, CUT_OFF, exceeded } from './broken-off.ts';
import {
  createEventReader,
  type EventReader,
  type EventReaderOptions,
  type OnSign,
} from './event-reader.ts';
import { createEventSplitter } from './event-splitter.ts';
import { errorOf } from './chunk-fields.ts';
import type { StreamObserver } from './stream-observer.ts';

/** What of an answer is delivered at once: events of chat completions as their upstream sent them, without the end mark, or parts. */
export type Portion = Buffer | readonly AnswerPart[];

/** Reads an upstream's stream for its client; the observer sees all of it. */
export interface StreamReader {
  /**
   * The next portion; undefined when the response is complete. Rejects with an UpstreamFailure when it is not. The first time it
   * waits for the first content, so that an earlier failure can still be answered by another target.
   */
  next(): Promise<Portion | undefined>;
  /** Cancels the rest of the stream. */
  leave(): void;
}

interface StreamReaderOptions extends Omit<EventReaderOptions, 'onPart'> {
  /** Whether events of chat completions are delivered as they are, because the client speaks that API. */
  readonly passesEvents: boolean;
}

/** Reads one stream by its form. */
export function readStream(stream: UpstreamStream, options: StreamReaderOptions): StreamReader {
  return stream.form === 'events'
    ? new EventStreamReader(stream, options)
    : new PartStreamReader(stream.parts, options);
}

const TOO_LONG = 'the upstream generated more text than an answer may have';

const NOTHING = Buffer.alloc(0);
/** An upstream may send comments for as long as it likes. */
const COMMENTS_BYTES_MAX = 4 * 1024;
/** With more than that, a stream has begun, whatever it says. */
const EARLY_BYTES_MAX = 64 * 1024;
const EARLY_PARTS_MAX = 1_000;

export type EventStream = UpstreamStream & { readonly form: 'events' };

/** Classes, because this runs for each token: nested generators cost as much as reading the token. */
export class EventStreamReader implements StreamReader {
  readonly #bytes: AsyncIterator<Uint8Array>;
  readonly #cleanMessage: EventStream['cleanMessage'];
  readonly #observer: StreamObserver;
  readonly #splitter = createEventSplitter();
  readonly #reader: EventReader;
  readonly #onSign: OnSign | undefined;
  #isOver = false;
  #hasBegun = false;
  /** What came before the first content, such as a role or comments, and waits for it. */
  #early: Buffer = NOTHING;
  /** What was read and is not delivered yet; undefined where events are delivered. */
  readonly #parts: AnswerPart[] | undefined;
  /** A failure that is thrown after the events before it. */
  #failure: UpstreamFailure | undefined;

  constructor(
    { bytes, cleanMessage }: EventStream,
    { passesEvents, ...options }: StreamReaderOptions,
  ) {
    this.#cleanMessage = cleanMessage;
    this.#bytes = bytes[Symbol.asyncIterator]();
    this.#observer = options.observer;
    this.#onSign = options.onSign;
    const parts: AnswerPart[] | undefined = passesEvents ? undefined : [];
    this.#parts = parts;
    this.#reader = createEventReader({ ...options, onPart: parts && ((part) => parts.push(part)) });
  }

  async next(): Promise<Portion | undefined> {
    const events = await this.nextEvents();
    return events && (this.#parts?.splice(0) ?? events);
  }

  /** The bytes of the next portion. */
  async nextEvents(): Promise<Buffer | undefined> {
    while (!this.#isOver) {
      const next = await this.#bytes.next();
      const passed = next.done === true ? this.#rest() : this.#pass(bufferOf(next.value));
      if (this.#observer.isTooLong) {
        this.leave();
        throw exceeded(TOO_LONG);
      }
      if (this.#hasBegun) {
        if (passed.length > 0) return passed;
      } else {
        this.#keep(passed);
        if (this.#observer.hasContent || this.#early.length > EARLY_BYTES_MAX) return this.#begin();
      }
    }
    if (this.#failure !== undefined) throw this.#failure;
    return this.#early.length > 0 ? this.#begin() : undefined;
  }

  leave(): void {
    this.#isOver = true;
    giveUp(this.#bytes);
  }

  #begin(): Buffer {
    this.#hasBegun = true;
    const early = this.#early;
    this.#early = NOTHING;
    return early;
  }

  #keep(events: Buffer): void {
    if (events.length === 0) return;
    if (isOnlyComments(events)) {
      if (this.#onSign?.(events) === true) return;
      if (this.#early.length + events.length > COMMENTS_BYTES_MAX) return;
    }
    this.#early = this.#early.length === 0 ? events : Buffer.concat([this.#early, events]);
  }

  #finish(): void {
    this.#isOver = true;
    readToEnd(this.#bytes);
  }

  #pass(chunk: Buffer): Buffer {
    return this.#read(this.#pushed(chunk));
  }

  #pushed(chunk: Buffer): Buffer {
    try {
      return this.#splitter.push(chunk);
    } catch (error) {
      this.leave();
      throw exceeded(describeError(error));
    }
  }

  #read(events: Buffer): Buffer {
    const { passed, isDone, error } = this.#reader.read(events);
    if (error !== undefined) {
      this.#failure = brokenOffBy(this.#cleanMessage(error));
      this.leave();
    } else if (isDone) {
      if (!this.#observer.isFinishedByMark) this.#failure = brokenOff(CUT_OFF);
      this.#finish();
    }
    return passed;
  }

  #rest(): Buffer {
    const passed = this.#read(this.#splitter.rest());
    // Some upstreams omit the end mark; without a finish reason either, the response was cut off.
    if (!this.#isOver && !this.#observer.isFinished) this.#failure = brokenOff(CUT_OFF);
    this.#isOver = true;
    return passed;
  }
}

class PartStreamReader implements StreamReader {
  readonly #parts: AsyncIterator<AnswerPart>;
  readonly #observer: StreamObserver;
  #hasBegun = false;
  readonly #early: AnswerPart[] = [];

  constructor(parts: AsyncIterable<AnswerPart>, { observer }: StreamReaderOptions) {
    this.#parts = parts[Symbol.asyncIterator]();
    this.#observer = observer;
  }

  async next(): Promise<readonly AnswerPart[] | undefined> {
    for (;;) {
      const next = await this.#parts.next();
      if (next.done === true) {
        if (!this.#observer.isFinished) throw brokenOff(CUT_OFF);
        return this.#early.length > 0 ? this.#begin() : undefined;
      }
      this.#observe(next.value);
      if (this.#hasBegun) return [next.value];
      this.#early.push(next.value);
      if (this.#observer.hasContent || this.#early.length > EARLY_PARTS_MAX) return this.#begin();
    }
  }

  #begin(): readonly AnswerPart[] {
    this.#hasBegun = true;
    return this.#early.splice(0);
  }

  /** The chunks of an upstream that speaks chat completions can have more than their parts say, such as several choices. */
  #observe(part: AnswerPart): void {
    const isChat = part.own?.api === CHAT_API;
    const error = isChat ? errorOf(part.own.value) : undefined;
    if (error !== undefined) {
      this.leave();
      throw brokenOffBy(error);
    }
    if (isChat) this.#observer.observe(part.own.value);
    else this.#observer.observePart(part);
    if (!this.#observer.isTooLong) return;
    this.leave();
    throw exceeded(TOO_LONG);
  }

  leave(): void {
    giveUp(this.#parts);
  }
}

/** A failure to cancel the upstream does not matter any more. */
function giveUp(stream: AsyncIterator<unknown>): void {
  stream.return?.().catch(() => undefined);
}

const COLON = 0x3a;

const isOnlyComments = (events: Buffer): boolean =>
  events[0] === COLON &&
  events
    .toString('latin1')
    .split('\n')
    .every((line) => line === '' || line.startsWith(':'));

const bufferOf = (chunk: Uint8Array): Buffer =>
  Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk);
