/** Lets somebody wait until a state that events change is as it should be. */
export interface Changes {
  /** Something changed: whoever waits looks again. */
  emit(): void;
  /** Whether the condition came true in time. Rejects with the signal's reason when that is aborted. */
  until(
    condition: () => boolean,
    options: { readonly timeoutMs: number; readonly signal: AbortSignal },
  ): Promise<boolean>;
}

/** Nobody waits yet. */
export function createChanges(): Changes {
  const waiting = new Set<() => void>();
  return {
    emit() {
      for (const look of waiting) look();
    },
    until(condition, { timeoutMs, signal }) {
      return new Promise((resolve, reject) => {
        const end = (settle: () => void): void => {
          waiting.delete(look);
          clearTimeout(timer);
          signal.removeEventListener('abort', abort);
          settle();
        };
        const look = (): void => {
          if (condition()) end(() => resolve(true));
        };
        const abort = (): void => end(() => reject(signal.reason as Error));
        const timer = setTimeout(() => end(() => resolve(condition())), timeoutMs);
        waiting.add(look);
        signal.addEventListener('abort', abort);
        if (signal.aborted) abort();
        else look();
      });
    },
  };
}
