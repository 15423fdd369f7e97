import { describeError, type Log } from '@model-gateway/kernel';
import type { ChatChunk, UpstreamStream } from '@model-gateway/router';
import { brokenOff, brokenOffBy, CUT_OFF } from './broken-off.ts';
import { createEventReader, type ChunkHead } from './event-reader.ts';
import { createEventSplitter } from './event-splitter.ts';
import { errorOf, isUsageOnly } from './chunk-fields.ts';
import type { StreamObserver } from './stream-observer.ts';

interface RelayOptions {
  readonly observer: StreamObserver;
  /** Whether the client asked to see the chunk with the usage. */
  readonly passesUsage: boolean;
  /** What a chunk is given that an upstream left out. */
  readonly head: ChunkHead;
  /** Whether every event has to be parsed. */
  readonly parsesAll: boolean;
  readonly log: Log;
}

/**
 * What the client is to see of an upstream's stream, as server-sent events without the end mark, while the observer learns
 * what it needs. Ends when the answer is complete and throws an UpstreamFailure when it is not.
 */
export function relay(stream: UpstreamStream, options: RelayOptions): AsyncGenerator<Buffer> {
  return stream.form === 'events'
    ? relayEvents(stream.bytes, options)
    : relayChunks(stream.chunks, options);
}

async function* relayEvents(
  bytes: AsyncIterable<Uint8Array>,
  { observer, passesUsage, head, parsesAll, log }: RelayOptions,
): AsyncGenerator<Buffer> {
  const splitter = createEventSplitter();
  const read = createEventReader({
    observer,
    passesUsage,
    head,
    parsesAll,
    onGarbage: () => log.warn({}, 'an upstream sent an event that is no JSON; it was left out'),
  });
  for await (const chunk of bytes) {
    const { passed, isDone, error } = read(pushed(splitter, chunk));
    if (passed.length > 0) yield passed;
    if (error !== undefined) throw brokenOffBy(error);
    if (isDone) return;
  }
  const { passed, error } = read(splitter.rest());
  if (passed.length > 0) yield passed;
  if (error !== undefined) throw brokenOffBy(error);
  // Some upstreams leave out the end mark; without a finish either, the answer was cut off and must not look whole.
  if (!observer.isFinished) throw brokenOff(CUT_OFF);
}

function pushed(splitter: ReturnType<typeof createEventSplitter>, chunk: Uint8Array): Buffer {
  try {
    return splitter.push(Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk));
  } catch (error) {
    throw brokenOff(describeError(error));
  }
}

async function* relayChunks(
  chunks: AsyncIterable<ChatChunk>,
  { observer, passesUsage }: RelayOptions,
): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    const error = errorOf(chunk);
    if (error !== undefined) throw brokenOffBy(error);
    observer.observe(chunk);
    if (passesUsage || !isUsageOnly(chunk)) yield Buffer.from(`data: ${JSON.stringify(chunk)}\n\n`);
  }
}
