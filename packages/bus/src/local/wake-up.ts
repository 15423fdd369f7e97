/** Lets a loop wait for work without polling. */
export interface WakeUp {
  wake(): void;
  /** How often it was woken. */
  count(): number;
  /** Whether it was woken more often than that: now, within the time, or until the signal aborts. */
  wait(count: number, milliseconds: number, signal: AbortSignal): Promise<boolean>;
}

export function createWakeUp(): WakeUp {
  const waiters = new Set<() => void>();
  let wakes = 0;
  return {
    wake() {
      wakes += 1;
      for (const resume of waiters) resume();
    },
    count: () => wakes,
    wait: (count, milliseconds, signal) =>
      new Promise((resolve) => {
        if (signal.aborted || wakes > count) return resolve(wakes > count);
        const resume = (): void => {
          clearTimeout(timer);
          signal.removeEventListener('abort', resume);
          waiters.delete(resume);
          resolve(wakes > count);
        };
        const timer = setTimeout(resume, milliseconds);
        signal.addEventListener('abort', resume);
        waiters.add(resume);
      }),
  };
}
