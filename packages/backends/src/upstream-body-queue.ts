/** A queue between the socket and one reader; the socket is paused while the reader is behind. */
export function createBody(): Body {
  const queue: Buffer[] = [];
  let queued = 0;
  let flow: Flow | undefined;
  let isPaused = false;
  let ending: { readonly error?: unknown } | undefined;
  let wake: (() => void) | undefined;

  const settle = (how: { readonly error?: unknown }) => {
    ending ??= how;
    wake?.();
  };

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

  async function next(): Promise<IteratorResult<Buffer>> {
    for (;;) {
      const chunk = take();
      if (chunk !== undefined) return { done: false, value: chunk };
      if (ending !== undefined) {
        if ('error' in ending) throw ending.error;
        return { done: true, value: undefined };
      }
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
      wake = undefined;
    }
  }

  return {
    connect: (connected) => {
      flow = connected;
    },
    push(chunk) {
      queue.push(chunk);
      queued += chunk.length;
      if (!isPaused && queued >= QUEUED_BYTES_MAX) {
        isPaused = true;
        flow?.pause();
      }
      wake?.();
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
