import { startPeerTimeout } from '@model-gateway/kernel';
import type { UpstreamFailure } from '@model-gateway/router';
import { aborted, timedOut } from '../json-rpc/rpc-failures.ts';
import { upstreamFailed } from '../errors/upstream-error.ts';

/** The queue between a shared connection and the reader of one stream. */
export interface ChunkQueue<Chunk> {
  push(chunk: Chunk, bytes: number): void;
  fail(error: UpstreamFailure): void;
  /** The chunks in order, for one reader; it ends when the reader stops. */
  read(): AsyncGenerator<Chunk, void, undefined>;
}

interface ChunkQueueOptions {
  /** No chunk for this long, while the reader waits for one, is a failure. */
  readonly idleMs: number;
  readonly signal: AbortSignal;
  /** Called once, when reading has ended: complete, failed, or abandoned. */
  readonly onOver: (why: UpstreamFailure | undefined) => void;
}

/**
 * The most bytes that may wait for one slow reader. The streams of an engine share one connection, so backpressure for one
 * would stop all others; a reader that is further behind is cut off.
 */
const QUEUED_BYTES_MAX = 8 * 1024 * 1024;

export function createChunkQueue<Chunk>(options: ChunkQueueOptions): ChunkQueue<Chunk> {
  const { idleMs, signal, onOver } = options;
  const queue: { readonly chunk: Chunk; readonly bytes: number }[] = [];
  let queued = 0;
  let failure: UpstreamFailure | undefined;
  let isOver = false;
  let wake: (() => void) | undefined;

  const onAbort = (): void => fail(aborted(signal));
  signal.addEventListener('abort', onAbort, { once: true });

  function over(why: UpstreamFailure | undefined): void {
    if (isOver) return;
    isOver = true;
    signal.removeEventListener('abort', onAbort);
    onOver(why);
  }
  function fail(error: UpstreamFailure): void {
    failure ??= error;
    over(failure);
    wake?.();
  }

  async function untilWoken(): Promise<void> {
    const timeout = startPeerTimeout(idleMs, () => fail(timedOut(idleMs)));
    await new Promise<void>((resolve) => {
      wake = resolve;
    });
    wake = undefined;
    timeout.stop();
  }

  return {
    push(chunk, bytes) {
      if (isOver) return;
      queue.push({ chunk, bytes });
      queued += bytes;
      if (queued > QUEUED_BYTES_MAX) fail(upstreamFailed('the answer was read too slowly'));
      else wake?.();
    },
    fail,
    async *read() {
      try {
        for (;;) {
          const next = queue.shift();
          if (next !== undefined) {
            queued -= next.bytes;
            yield next.chunk;
          } else if (failure === undefined) await untilWoken();
          else throw failure;
        }
      } finally {
        over(failure);
      }
    },
  };
}
