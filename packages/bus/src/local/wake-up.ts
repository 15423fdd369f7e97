/** Lets a loop wait for work without polling. */
export interface WakeUp {
  wake(): void;
  /** Resolves at the next wake, after the time, or when the signal aborts. */
  wait(milliseconds: number, signal: AbortSignal): Promise<void>;
}

export function createWakeUp(): WakeUp {
  const waiters = new Set<() => void>();
  return {
    wake: () => {
      for (const resume of waiters) resume();
    },
    wait: (milliseconds, signal) =>
      new Promise((resolve) => {
        if (signal.aborted) return resolve();
        const resume = (): void => {
          clearTimeout(timer);
          signal.removeEventListener('abort', resume);
          waiters.delete(resume);
          resolve();
        };
        const timer = setTimeout(resume, milliseconds);
        signal.addEventListener('abort', resume);
        waiters.add(resume);
      }),
  };
}
