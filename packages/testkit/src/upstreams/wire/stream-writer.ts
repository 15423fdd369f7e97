import { once } from 'node:events';
import { faultOf } from '../faults/fault-plan.ts';
import type { ChatFault } from '../faults/stream-faults.ts';
import type { Exchange } from './exchange.ts';

/** One formatted chunk of a streamed response, and its tokens. */
export interface Chunk {
  readonly text: string;
  readonly tokens: number;
}

/** The result of a stream. */
export interface StreamOutcome {
  readonly tokens: number;
  readonly completed: boolean;
}

interface StreamOptions {
  readonly chunks: Iterable<Chunk>;
  readonly delayMs: number;
  readonly faults: readonly ChatFault[];
  /** An invalid line in this format. */
  readonly garbage: string;
  /** A failure reported inside the stream, in this format. */
  readonly errorChunk: (message: string) => string;
}

const SPLIT_PAUSE_MS = 2;

/** Writes a stream chunk by chunk with back-pressure and applies its faults. The caller has written the headers. */
export async function writeStream(
  exchange: Exchange,
  { chunks, delayMs, faults, garbage, errorChunk }: StreamOptions,
): Promise<StreamOutcome> {
  const { response } = exchange;
  const pauseMs = faultOf(faults, 'slow-chunks')?.delayMs ?? delayMs;
  const cutAfter = faultOf(faults, 'cut')?.afterChunks;
  const stallAfter = faultOf(faults, 'stall')?.afterChunks;
  const garbageFault = faultOf(faults, 'garbage-line');
  const errorFault = faultOf(faults, 'error-chunk');
  const split = faultOf(faults, 'split-utf8') !== undefined;
  let written = 0;
  let tokens = 0;

  response.flushHeaders();
  for (const chunk of chunks) {
    if (written === cutAfter) {
      await flushed(exchange);
      exchange.cut();
      return { tokens, completed: false };
    }
    if (written === stallAfter) await exchange.untilClosed();
    if (garbageFault !== undefined && written === (garbageFault.afterChunks ?? 1)) {
      response.write(garbage);
    }
    if (errorFault !== undefined && written === (errorFault.afterChunks ?? 1)) {
      response.end(errorChunk(errorFault.message ?? 'the model crashed'));
      return { tokens, completed: false };
    }
    if (pauseMs > 0 && written > 0) await exchange.wait(pauseMs);
    if (exchange.closed.aborted) return { tokens, completed: false };
    await (split ? writeSplit(exchange, chunk.text) : write(exchange, chunk.text));
    written += 1;
    tokens += chunk.tokens;
  }
  if (exchange.closed.aborted) return { tokens, completed: false };
  response.end();
  return { tokens, completed: true };
}

async function write(exchange: Exchange, text: string | Buffer): Promise<void> {
  if (exchange.response.write(text)) return;
  // A reader that stops reading pauses the model; one that disconnects ends it.
  await once(exchange.response, 'drain', { signal: exchange.closed }).catch(() => undefined);
}

/** Sends a text in two packets, split inside of its first multi-byte character, or in its middle. */
async function writeSplit(exchange: Exchange, text: string): Promise<void> {
  const bytes = Buffer.from(text);
  const wide = bytes.findIndex((byte) => byte > 0x7f);
  const at = wide === -1 ? bytes.length >> 1 : wide + 1;
  await write(exchange, bytes.subarray(0, at));
  await exchange.wait(SPLIT_PAUSE_MS);
  await write(exchange, bytes.subarray(at));
}

/** Waits until all data is sent, so that the connection is cut after it. */
async function flushed(exchange: Exchange): Promise<void> {
  const sent = new Promise<void>((resolve) => {
    exchange.response.write('', () => resolve());
  });
  await Promise.race([sent, exchange.untilClosed()]);
}
