/** How long to wait before the next attempt. */
export interface Backoff {
  next(): number;
  reset(): void;
}

const FIRST_MS = 500;
const LAST_MS = 30_000;

/** Doubles with every attempt. A part of it is chance, so that nodes which lost their gateway together do not come back together. */
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
  };
}
