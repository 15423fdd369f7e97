/** How long to wait before the next attempt. */
export interface Backoff {
  next(): number;
  reset(): void;
  /** Whether there was no attempt since the last reset. */
  readonly isFresh: boolean;
}

const FIRST_MS = 500;
const LAST_MS = 30_000;

/** Doubles with every attempt. Half of it is random, so that nodes do not all reconnect at the same time. */
export function createBackoff(random: () => number = Math.random): Backoff {
  let current = FIRST_MS;
  return {
    next() {
      const wait = current * (0.5 + random() / 2);
      current = Math.min(current * 2, LAST_MS);
      return wait;
    },
    reset() {
      current = FIRST_MS;
    },
    get isFresh() {
      return current === FIRST_MS;
    },
  };
}
