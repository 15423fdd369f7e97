import { describeError, readToEnd } from '@model-gateway/kernel';
import type { ChatChunk, UpstreamFailure, UpstreamStream } from '@model-gateway/router';
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
  /** The next events; undefined when the response is complete. Rejects with an UpstreamFailure when it is not. */
  next(): Promise<Buffer | undefined>;
  /** Cancels the rest of the stream. */
  leave(): void;
}

/** Forwards one stream. */
export function relay(stream: UpstreamStream, options: EventReaderOptions): Relay {
  return stream.form === 'events'
    ? new EventRelay(stream, options)
    : new ChunkRelay(stream.chunks, options);
}

const TOO_LONG = 'the upstream generated more text than an answer may have';

/** Instead of the bytes of a chunk that its reader took: nothing would read them. */
const TAKEN = Buffer.alloc(0);
/** An upstream may send comments for as long as it likes. */
const COMMENTS_BYTES_MAX = 4 * 1024;

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
  /** Whether there was more than comments, which keep a connection alive while nothing is generated yet. */
  #hasBegun = false;
  /** Comments that wait for the first chunk. */
  #comments: Buffer = TAKEN;
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
      if (passed.length === 0) continue;
      if (this.#hasBegun) return passed;
      if (!isOnlyComments(passed)) return this.#begin(passed);
      this.#keep(passed);
    }
    if (this.#failure !== undefined) throw this.#failure;
    return undefined;
  }

  leave(): void {
    this.#isOver = true;
    giveUp(this.#bytes);
  }

  #begin(first: Buffer): Buffer {
    this.#hasBegun = true;
    return this.#comments.length === 0 ? first : Buffer.concat([this.#comments, first]);
  }

  #keep(comments: Buffer): void {
    if (this.#onSign?.(comments) === true) return;
    if (this.#comments.length + comments.length <= COMMENTS_BYTES_MAX)
      this.#comments = Buffer.concat([this.#comments, comments]);
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

class ChunkRelay implements Relay {
  readonly #chunks: AsyncIterator<ChatChunk>;
  readonly #options: EventReaderOptions;

  constructor(chunks: AsyncIterable<ChatChunk>, options: EventReaderOptions) {
    this.#chunks = chunks[Symbol.asyncIterator]();
    this.#options = options;
  }

  async next(): Promise<Buffer | undefined> {
    const { observer, onChunk, passesUsage } = this.#options;
    for (;;) {
      const next = await this.#chunks.next();
      if (next.done === true) {
        if (!observer.isFinished) throw brokenOff(CUT_OFF);
        return undefined;
      }
      const chunk = next.value;
      const error = errorOf(chunk);
      if (error !== undefined) {
        this.leave();
        throw brokenOffBy(error);
      }
      observer.observe(chunk);
      if (observer.isTooLong) {
        this.leave();
        throw exceeded(TOO_LONG);
      }
      if (onChunk !== undefined) {
        onChunk(chunk);
        return TAKEN;
      }
      if (passesUsage) return eventOf(chunk);
      if (!isUsageOnly(chunk)) return eventOf(withoutUsage(chunk));
    }
  }

  leave(): void {
    giveUp(this.#chunks);
  }
}

const eventOf = (chunk: ChatChunk): Buffer => Buffer.from(`data: ${JSON.stringify(chunk)}\n\n`);

function withoutUsage(chunk: ChatChunk): ChatChunk {
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
