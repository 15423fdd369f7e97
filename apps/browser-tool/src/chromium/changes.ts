/** Lets callers wait for a condition on state that events change. */
export interface Changes {
  /** Makes all waiting callers check their condition again. */
  emit(): void;
  /** Returns whether the condition became true in time. Rejects with the signal's reason if it is aborted. */
  until(
    condition: () => boolean,
    options: { readonly timeoutMs: number; readonly signal: AbortSignal },
  ): Promise<boolean>;
}

/** Creates it without waiting callers. */
export function createChanges(): Changes {
  const checks = new Set<() => void>();
  return {
    emit() {
      for (const check of checks) check();
    },
    until(condition, { timeoutMs, signal }) {
      return new Promise((resolve, reject) => {
        const end = (settle: () => void): void => {
          checks.delete(check);
          clearTimeout(timer);
          signal.removeEventListener('abort', abort);
          settle();
        };
        const check = (): void => {
          if (condition()) end(() => resolve(true));
        };
        const abort = (): void => end(() => reject(signal.reason as Error));
        const timer = setTimeout(() => end(() => resolve(condition())), timeoutMs);
        checks.add(check);
        signal.addEventListener('abort', abort);
        if (signal.aborted) abort();
        else check();
      });
    },
  };
}
