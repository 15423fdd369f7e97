/** Runs one task at a time per key, and a limited number in total; the others wait in order. */
export interface KeyedQueue {
  /** Rejects without running the work when too many wait. */
  run<Answer>(key: string, work: () => Promise<Answer>): Promise<Answer>;
}

interface KeyedQueueOptions {
  readonly atOnceMax: number;
  readonly waitingMax: number;
  /** The error when the queue is full. */
  readonly refusal: () => Error;
}

export function createKeyedQueue({
  atOnceMax,
  waitingMax,
  refusal,
}: KeyedQueueOptions): KeyedQueue {
  const running = new Set<string>();
  const waiting: { readonly key: string; readonly start: () => void }[] = [];

  function admitWaiting(): void {
    while (running.size < atOnceMax) {
      const index = waiting.findIndex(({ key }) => !running.has(key));
      const [next] = index === -1 ? [] : waiting.splice(index, 1);
      if (next === undefined) return;
      running.add(next.key);
      next.start();
    }
  }

  return {
    async run(key, work) {
      if (waiting.length >= waitingMax) throw refusal();
      await new Promise<void>((start) => {
        waiting.push({ key, start });
        admitWaiting();
      });
      try {
        return await work();
      } finally {
        running.delete(key);
        admitWaiting();
      }
    },
  };
}
