import type { Clock } from '@model-gateway/kernel';

/** Lets each key have so many requests within any 60 seconds, in the memory of this process. */
export interface RequestLimiter {
  /** Counts a request and lets it through; one over the limit is neither. */
  admits(key: string): boolean;
}

interface RequestLimiterOptions {
  /** 0 lets nothing through. */
  readonly requestsPerMinute: number;
  readonly clock: Clock;
  /** How many keys are counted at a time; of more, the one that has been quiet for longest is forgotten. */
  readonly keysMax?: number;
}

const WINDOW_MS = 60_000;
const KEYS_MAX = 100_000;
const TIMES_AT_FIRST = 8;

export function createRequestLimiter(options: RequestLimiterOptions): RequestLimiter {
  const { requestsPerMinute, clock, keysMax = KEYS_MAX } = options;
  // In the order of their last request, so that those whose time is over are always in front.
  const windows = new Map<string, RequestTimes>();
  /** Whose request came last: the next one is often theirs too, and nothing has to be moved for it. */
  let latestKey: string | undefined;

  function forgetQuiet(now: number): void {
    for (const [key, times] of windows) {
      if (!times.isOver(now) && windows.size <= keysMax) return;
      windows.delete(key);
    }
  }

  return {
    admits(key) {
      if (requestsPerMinute === 0) return false;
      const now = clock.now();
      const times = windows.get(key) ?? createRequestTimes(requestsPerMinute);
      if (!times.add(now)) return false;
      if (key === latestKey) return true;
      latestKey = key;
      windows.delete(key);
      windows.set(key, times);
      forgetQuiet(now);
      return true;
    },
  };
}

interface RequestTimes {
  /** False when there are as many as there may be. */
  add(now: number): boolean;
  isOver(now: number): boolean;
}

/** The times of the requests of one key within the window: a ring that grows with what is asked for, up to the limit. */
function createRequestTimes(countMax: number): RequestTimes {
  let ring = new Float64Array(Math.min(countMax, TIMES_AT_FIRST));
  let first = 0;
  let count = 0;
  let newest = -Infinity;

  function dropOld(now: number): void {
    // A clock that was set back would keep what it wrote before for as long.
    if (newest > now) count = 0;
    while (count > 0 && now - (ring[first] ?? 0) >= WINDOW_MS) {
      first = (first + 1) % ring.length;
      count -= 1;
    }
  }

  function grow(): void {
    const grown = new Float64Array(Math.min(countMax, ring.length * 2));
    grown.set(ring.subarray(first));
    grown.set(ring.subarray(0, first), ring.length - first);
    ring = grown;
    first = 0;
  }

  return {
    add(now) {
      dropOld(now);
      if (count >= countMax) return false;
      if (count === ring.length) grow();
      ring[(first + count) % ring.length] = now;
      count += 1;
      newest = now;
      return true;
    },
    isOver: (now) => now - newest >= WINDOW_MS,
  };
}
