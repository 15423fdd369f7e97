/** Lets one loop wait for news without looking for them. */
export interface WakeUp {
  wake(): void;
  /** Resolves at the next wake, after the time, or when the signal aborts. */
  wait(milliseconds: number, signal: AbortSignal): Promise<void>;
}

export function createWakeUp(): WakeUp {
  const sleepers = new Set<() => void>();
  return {
    wake: () => {
      for (const rouse of sleepers) rouse();
    },
    wait: (milliseconds, signal) =>
      new Promise((resolve) => {
        if (signal.aborted) return resolve();
        const rouse = (): void => {
          clearTimeout(timer);
          signal.removeEventListener('abort', rouse);
          sleepers.delete(rouse);
          resolve();
        };
        const timer = setTimeout(rouse, milliseconds);
        signal.addEventListener('abort', rouse);
        sleepers.add(rouse);
      }),
  };
}
