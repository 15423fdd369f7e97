/** A queue between the socket and one reader; the socket is paused while the reader is behind. */
export function createBody(): Body {
  const queue: Buffer[] = [];
  let queued = 0;
  let flow: Flow | undefined;
  let isPaused = false;
  let ending: Ending | undefined;
  let reader: Reader | undefined;

  function settle(how: Ending): void {
    ending ??= how;
    if (reader === undefined) return;
    const { resolve, reject } = reader;
    reader = undefined;
    if ('error' in ending) reject(ending.error);
    else resolve(OVER);
  }

  function take(): Buffer | undefined {
    const chunk = queue.shift();
    if (chunk === undefined) return undefined;
    queued -= chunk.length;
    if (isPaused && queued < QUEUED_BYTES_MAX) {
      isPaused = false;
      flow?.resume();
    }
    return chunk;
  }

  function next(): Promise<IteratorResult<Buffer>> {
    return new Promise((resolve, reject) => {
      const chunk = take();
      if (chunk !== undefined) {
        resolve({ done: false, value: chunk });
        return;
      }
      reader = { resolve, reject };
      if (ending !== undefined) settle(ending);
    });
  }

  return {
    connect: (connected) => {
      flow = connected;
    },
    push(chunk) {
      // Delivered directly to a waiting reader, as most tokens are.
      if (reader !== undefined) {
        const { resolve } = reader;
        reader = undefined;
        resolve({ done: false, value: chunk });
        return;
      }
      queue.push(chunk);
      queued += chunk.length;
      if (!isPaused && queued >= QUEUED_BYTES_MAX) {
        isPaused = true;
        flow?.pause();
      }
    },
    end: () => settle({}),
    fail: (error) => settle({ error }),
    [Symbol.asyncIterator]: () => ({
      next,
      async return() {
        queue.length = 0;
        if (ending === undefined) flow?.abort();
        return { done: true, value: undefined };
      },
    }),
  };
}

const QUEUED_BYTES_MAX = 64 * 1024;
const OVER = { done: true, value: undefined } as const;

/** The end of a body; with an error if it was broken off. */
interface Ending {
  readonly error?: unknown;
}

/** The reader that waits for the next chunk. */
interface Reader {
  readonly resolve: (next: IteratorResult<Buffer>) => void;
  readonly reject: (error: unknown) => void;
}

interface Flow {
  pause(): void;
  resume(): void;
  abort(): void;
}

interface Body extends AsyncIterable<Buffer> {
  connect(flow: Flow): void;
  push(chunk: Buffer): void;
  end(): void;
  fail(error: unknown): void;
}
