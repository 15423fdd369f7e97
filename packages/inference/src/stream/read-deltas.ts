import type { Log } from '@model-gateway/kernel';
import type { ChatChunk, UpstreamStream } from '@model-gateway/router';
import { createParser } from 'eventsource-parser';
import { brokenOff, brokenOffBy, CUT_OFF } from './broken-off.ts';
import { contentOf, errorOf, firstDelta, toolCallsOf } from './chunk-fields.ts';
import type { StreamObserver } from './stream-observer.ts';

/** One piece of an answer. */
export interface ChatDelta {
  readonly token: string;
  /** Pieces of tool calls, where there are any. */
  readonly toolCalls?: readonly unknown[];
}

interface ReadOptions {
  readonly observer: StreamObserver;
  readonly log: Log;
}

const EVENT_CHARS_MAX = 16 * 1024 * 1024;
const END_MARK = '[DONE]';

/**
 * The pieces of an upstream's stream as they arrive, while the observer learns what it needs. Ends when the answer is
 * complete and throws an UpstreamFailure when it is not.
 */
export function readDeltas(
  stream: UpstreamStream,
  options: ReadOptions,
): AsyncGenerator<readonly ChatDelta[]> {
  return stream.form === 'events'
    ? readEvents(stream, options)
    : readChunks(stream.chunks, options);
}

async function* readEvents(
  { bytes, cleanMessage }: UpstreamStream & { readonly form: 'events' },
  options: ReadOptions,
): AsyncGenerator<readonly ChatDelta[]> {
  const parser = createDataParser();
  for await (const part of bytes) {
    const { deltas, isDone, error } = readData(parser.feed(part), options);
    if (deltas.length > 0) yield deltas;
    if (error !== undefined) throw brokenOffBy(cleanMessage(error));
    if (isDone) return;
  }
  const { deltas, error } = readData(parser.rest(), options);
  if (deltas.length > 0) yield deltas;
  if (error !== undefined) throw brokenOffBy(cleanMessage(error));
  // Some upstreams leave out the end mark; without a finish either, the answer was cut off and must not look whole.
  if (!options.observer.isFinished) throw brokenOff(CUT_OFF);
}

async function* readChunks(
  chunks: AsyncIterable<ChatChunk>,
  { observer }: ReadOptions,
): AsyncGenerator<readonly ChatDelta[]> {
  for await (const chunk of chunks) {
    const error = errorOf(chunk);
    if (error !== undefined) throw brokenOffBy(error);
    const delta = deltaOf(chunk, observer);
    if (delta !== undefined) yield [delta];
  }
}

interface DataParser {
  /** The data of the events that are complete now. */
  feed(bytes: Uint8Array): readonly string[];
  /** What was left when the stream ended, as if it had been whole. */
  rest(): readonly string[];
}

function createDataParser(): DataParser {
  const decoder = new TextDecoder();
  const waiting: string[] = [];
  let isTooLarge = false;
  const parser = createParser({
    maxBufferSize: EVENT_CHARS_MAX,
    onEvent: ({ data }) => void waiting.push(data),
    onError: ({ type }) => {
      isTooLarge ||= type === 'max-buffer-size-exceeded';
    },
  });
  const feed = (text: string): readonly string[] => {
    parser.feed(text);
    if (isTooLarge) throw brokenOff('the upstream sent an event that is too large');
    return waiting.splice(0);
  };
  return {
    feed: (bytes) => feed(decoder.decode(bytes, { stream: true })),
    rest: () => feed(`${decoder.decode()}\n\n`),
  };
}

interface ReadData {
  readonly deltas: readonly ChatDelta[];
  /** The upstream's end mark was among them. */
  readonly isDone: boolean;
  /** The upstream's own error, if it sent one. */
  readonly error?: string;
}

function readData(events: readonly string[], { observer, log }: ReadOptions): ReadData {
  const deltas: ChatDelta[] = [];
  for (const data of events) {
    if (data.trim() === END_MARK) return { deltas, isDone: true };
    const chunk = parsed(data, log);
    const error = errorOf(chunk);
    if (error !== undefined) return { deltas, isDone: false, error };
    const delta = deltaOf(chunk, observer);
    if (delta !== undefined) deltas.push(delta);
  }
  return { deltas, isDone: false };
}

function parsed(data: string, log: Log): unknown {
  try {
    return JSON.parse(data);
  } catch {
    if (data.trim() !== '')
      log.warn({}, 'an upstream sent an event that is no JSON; it was left out');
    return undefined;
  }
}

/** What a chunk adds to the answer that is shown; undefined when it is nothing. */
function deltaOf(chunk: unknown, observer: StreamObserver): ChatDelta | undefined {
  observer.observe(chunk);
  const delta = firstDelta(chunk);
  const token = contentOf(delta);
  const toolCalls = toolCallsOf(delta);
  if (toolCalls.length > 0) return { token, toolCalls };
  return token === '' ? undefined : { token };
}
