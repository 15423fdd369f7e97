/** Runs a limited number of tasks at once, in total and per key. The keys that wait are served in turn, each in its own order. */
export interface FairQueue {
  /** Rejects without running the work when too many wait, or when it has waited too long. */
  run<Answer>(key: string, work: () => Promise<Answer>): Promise<Answer>;
  /** Whether a task of this key would wait. */
  wouldWait(key: string): boolean;
}

interface FairQueueOptions {
  readonly atOnceMax: number;
  readonly atOncePerKeyMax?: number;
  readonly waitingMax: number;
  /** How long a task waits at most; without it as long as it takes. */
  readonly waitMsMax?: number;
  /** The error for a task that is not run. */
  readonly refusal: () => Error;
}

interface Task {
  readonly start: () => void;
}

export function createFairQueue(options: FairQueueOptions): FairQueue {
  const { atOnceMax, atOncePerKeyMax = 1, waitingMax, waitMsMax, refusal } = options;
  const running = new Map<string, number>();
  /** In the order in which the keys are served. */
  const waiting = new Map<string, Task[]>();
  let runningCount = 0;
  let waitingCount = 0;

  function startWaiting(): void {
    while (runningCount < atOnceMax) {
      const key = nextKey();
      if (key === undefined) return;
      const tasks = waiting.get(key) ?? [];
      const task = tasks.shift();
      waitingCount -= 1;
      // The key is served again after all others.
      waiting.delete(key);
      if (tasks.length > 0) waiting.set(key, tasks);
      addRunning(key, 1);
      task?.start();
    }
  }

  function nextKey(): string | undefined {
    for (const key of waiting.keys()) if ((running.get(key) ?? 0) < atOncePerKeyMax) return key;
    return undefined;
  }

  function addRunning(key: string, change: number): void {
    const count = (running.get(key) ?? 0) + change;
    if (count === 0) running.delete(key);
    else running.set(key, count);
    runningCount += change;
  }

  function stopWaiting(key: string, task: Task): void {
    const others = (waiting.get(key) ?? []).filter((other) => other !== task);
    waitingCount -= 1;
    if (others.length === 0) waiting.delete(key);
    else waiting.set(key, others);
  }

  const turnOf = (key: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const start = (): void => {
        clearTimeout(timer);
        resolve();
      };
      const task = { start };
      const timer =
        waitMsMax === undefined
          ? undefined
          : setTimeout(() => {
              stopWaiting(key, task);
              reject(refusal());
            }, waitMsMax);
      const tasks = waiting.get(key);
      if (tasks === undefined) waiting.set(key, [task]);
      else tasks.push(task);
      waitingCount += 1;
    });

  const wouldWait = (key: string): boolean =>
    runningCount >= atOnceMax || waiting.has(key) || (running.get(key) ?? 0) >= atOncePerKeyMax;

  return {
    wouldWait,
    async run(key, work) {
      if (!wouldWait(key)) addRunning(key, 1);
      else if (waitingCount < waitingMax) await turnOf(key);
      else throw refusal();
      try {
        return await work();
      } finally {
        addRunning(key, -1);
        startWaiting();
      }
    },
  };
}
