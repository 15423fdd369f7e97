/** Background work: a few tasks at once, and a bounded queue. */
export interface BackgroundWork {
  /** Adds work that handles its own failures; false when the queue is full and the work was dropped. */
  add(work: () => Promise<void>): boolean;
  /** Resolves when nothing is left. */
  idle(): Promise<void>;
}

interface BackgroundWorkLimits {
  readonly atOnceMax: number;
  readonly waitingMax: number;
}

export function createBackgroundWork({
  atOnceMax,
  waitingMax,
}: BackgroundWorkLimits): BackgroundWork {
  const waiting: (() => Promise<void>)[] = [];
  const running = new Set<Promise<void>>();

  async function run(work: () => Promise<void>): Promise<void> {
    for (let next: typeof work | undefined = work; next !== undefined; next = waiting.shift()) {
      await next();
    }
  }
  function begin(work: () => Promise<void>): void {
    const done = run(work).finally(() => running.delete(done));
    running.add(done);
  }

  return {
    add(work) {
      if (running.size < atOnceMax) begin(work);
      else if (waiting.length < waitingMax) waiting.push(work);
      else return false;
      return true;
    },
    async idle() {
      while (running.size > 0) await Promise.all(running);
    },
  };
}
