import type { AnswerPart } from '@model-gateway/contracts';
import { CHAT_API, ChatWriter } from '@model-gateway/dialects';
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
import { errorOf, isUsageOnly } from './chunk-fields.ts';
import type { StreamObserver } from './stream-observer.ts';

/** Forwards an upstream's stream to the client as server-sent events without the end mark; the observer sees all of them. */
export interface Relay {
  /**
   * The next events; undefined when the response is complete. Rejects with an UpstreamFailure when it is not. The first time it
   * waits for the first content, so that an earlier failure can still be answered by another target.
   */
  next(): Promise<Buffer | undefined>;
  /** Cancels the rest of the stream. */
  leave(): void;
}

/** Forwards one stream. */
export function relay(stream: UpstreamStream, options: EventReaderOptions): Relay {
  return stream.form === 'events'
    ? new EventRelay(stream, options)
    : new PartRelay(stream.parts, options);
}

const TOO_LONG = 'the upstream generated more text than an answer may have';

/** Instead of the bytes of a chunk that its reader took: nothing would read them. */
const TAKEN = Buffer.alloc(0);
/** An upstream may send comments for as long as it likes. */
const COMMENTS_BYTES_MAX = 4 * 1024;
/** With more than that, a stream has begun, whatever it says. */
const EARLY_BYTES_MAX = 64 * 1024;
const EARLY_CHUNKS_MAX = 1_000;

type EventStream = UpstreamStream & { readonly form: 'events' };

/** Classes, because this runs for each token: nested generators cost as much as reading the token. */
class EventRelay implements Relay {
  readonly #bytes: AsyncIterator<Uint8Array>;
  readonly #cleanMessage: EventStream['cleanMessage'];
  readonly #observer: StreamObserver;
  readonly #splitter = createEventSplitter();
  readonly #reader: EventReader;
  readonly #onSign: OnSign | undefined;
  #isOver = false;
  #hasBegun = false;
  /** What came before the first content, such as a role or comments, and waits for it. */
  #early: Buffer = TAKEN;
  /** A failure that is thrown after the events before it. */
  #failure: UpstreamFailure | undefined;

  constructor({ bytes, cleanMessage }: EventStream, options: EventReaderOptions) {
    this.#cleanMessage = cleanMessage;
    this.#bytes = bytes[Symbol.asyncIterator]();
    this.#observer = options.observer;
    this.#onSign = options.onSign;
    this.#reader = createEventReader(options);
  }

  async next(): Promise<Buffer | undefined> {
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
    this.#early = TAKEN;
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

class PartRelay implements Relay {
  readonly #parts: AsyncIterator<AnswerPart>;
  readonly #options: EventReaderOptions;
  readonly #writer: ChatWriter | undefined;
  #hasBegun = false;
  readonly #early: Buffer[] = [];

  constructor(parts: AsyncIterable<AnswerPart>, options: EventReaderOptions) {
    this.#parts = parts[Symbol.asyncIterator]();
    this.#options = options;
    this.#writer = options.head && new ChatWriter(options.head);
  }

  async next(): Promise<Buffer | undefined> {
    const { observer } = this.#options;
    for (;;) {
      const next = await this.#parts.next();
      if (next.done === true) {
        if (!observer.isFinished) throw brokenOff(CUT_OFF);
        return this.#early.length > 0 ? this.#begin() : undefined;
      }
      const passed = this.#pass(next.value);
      if (this.#hasBegun) {
        if (passed !== undefined) return passed;
      } else {
        if (passed !== undefined) this.#early.push(passed);
        if (observer.hasContent || this.#early.length > EARLY_CHUNKS_MAX) return this.#begin();
      }
    }
  }

  #begin(): Buffer {
    this.#hasBegun = true;
    return Buffer.concat(this.#early.splice(0));
  }

  /** The events for the client; undefined when it gets none. */
  #pass(part: AnswerPart): Buffer | undefined {
    const { observer, onPart } = this.#options;
    this.#observe(part);
    if (observer.isTooLong) {
      this.leave();
      throw exceeded(TOO_LONG);
    }
    if (onPart !== undefined) {
      onPart(part);
      return TAKEN;
    }
    const chunks = part.own?.api === CHAT_API ? [part.own.value] : this.#writer?.chunksOf(part);
    const events = (chunks ?? []).map((chunk) => this.#eventOf(chunk)).join('');
    return events === '' ? undefined : Buffer.from(events);
  }

  /** The chunks of an upstream that speaks chat completions can have more than their parts say, such as several choices. */
  #observe(part: AnswerPart): void {
    const { observer } = this.#options;
    if (part.own?.api !== CHAT_API) return observer.observePart(part);
    const error = errorOf(part.own.value);
    if (error !== undefined) {
      this.leave();
      throw brokenOffBy(error);
    }
    observer.observe(part.own.value);
  }

  #eventOf(chunk: Chunk): string {
    if (this.#options.passesUsage) return eventOf(chunk);
    return isUsageOnly(chunk) ? '' : eventOf(withoutUsage(chunk));
  }

  leave(): void {
    giveUp(this.#parts);
  }
}

type Chunk = Readonly<Record<string, unknown>>;

const eventOf = (chunk: Chunk): string => `data: ${JSON.stringify(chunk)}\n\n`;

function withoutUsage(chunk: Chunk): Chunk {
  if (!('usage' in chunk)) return chunk;
  const { usage: _usage, ...rest } = chunk;
  return rest;
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
