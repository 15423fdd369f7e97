/** Lets a test wait for something that a server recorded, instead of sleeping. */
export interface Changes {
  /** Makes all waiting callers check their condition again. */
  notify(): void;
  /** Resolves as soon as the condition is true; rejects at the timeout. */
  until(condition: () => boolean, timeoutMs?: number): Promise<void>;
}

const UNTIL_TIMEOUT_MS = 60_000;

interface Waiter {
  readonly condition: () => boolean;
  readonly resolve: () => void;
}

export function createChanges(): Changes {
  const waiters = new Set<Waiter>();

  return {
    notify() {
      for (const waiter of waiters) if (waiter.condition()) waiter.resolve();
    },
    until(condition, timeoutMs = UNTIL_TIMEOUT_MS) {
      if (condition()) return Promise.resolve();
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          waiters.delete(waiter);
          reject(
            new Error(`the condition was not met within ${timeoutMs} ms: ${condition.toString()}`),
          );
        }, timeoutMs);
        const waiter: Waiter = {
          condition,
          resolve: () => {
            clearTimeout(timer);
            waiters.delete(waiter);
            resolve();
          },
        };
        waiters.add(waiter);
      });
    },
  };
}
