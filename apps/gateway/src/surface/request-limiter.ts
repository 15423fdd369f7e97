import type { Clock } from '@model-gateway/kernel';

/** Limits the requests of each key within any 60 seconds. */
export interface RequestLimiter {
  /** 0 refuses everything. */
  readonly requestsPerMinute: number;
  /** Counts a request if it is within the limit; a refused request is not counted. */
  admits(key: string): boolean | Promise<boolean>;
  /** The counted requests of a key. */
  windowOf(key: string): RequestWindow;
}

interface LocalRequestLimiter extends RequestLimiter {
  admits(key: string): boolean;
}

/** The requests of a key in the last 60 seconds. */
export interface RequestWindow {
  readonly count: number;
  /** When the oldest of them stops counting; 0 without any. */
  readonly nextFreeMs: number;
}

interface RequestLimiterOptions {
  /** 0 refuses everything. */
  readonly requestsPerMinute: number;
  readonly clock: Clock;
  /** How many keys are tracked; above that, the one idle for longest is evicted. */
  readonly keysMax?: number;
}

const WINDOW_MS = 60_000;
const KEYS_MAX = 100_000;
const INITIAL_RING_LENGTH = 8;
const NO_REQUESTS: RequestWindow = { count: 0, nextFreeMs: 0 };

/** Counts in the memory of this process. */
export function createRequestLimiter(options: RequestLimiterOptions): LocalRequestLimiter {
  const { requestsPerMinute, clock, keysMax = KEYS_MAX } = options;
  // Ordered by last request, so that expired entries are always first.
  const windows = new Map<string, RequestTimes>();
  /** The key of the last request: when the next request has the same key, the order does not change. */
  let latestKey: string | undefined;

  function evictIdle(now: number): void {
    for (const [key, times] of windows) {
      if (!times.isExpired(now) && windows.size <= keysMax) return;
      windows.delete(key);
    }
  }

  return {
    requestsPerMinute,
    windowOf: (key) => windows.get(key)?.window(clock.now()) ?? NO_REQUESTS,
    admits(key) {
      if (requestsPerMinute === 0) return false;
      const now = clock.now();
      const times = windows.get(key) ?? createRequestTimes(requestsPerMinute);
      if (!times.add(now)) return false;
      if (key === latestKey) return true;
      latestKey = key;
      windows.delete(key);
      windows.set(key, times);
      evictIdle(now);
      return true;
    },
  };
}

interface RequestTimes {
  /** False when the limit is reached. */
  add(now: number): boolean;
  window(now: number): RequestWindow;
  isExpired(now: number): boolean;
}

/** The request times of one key within the window, in a ring buffer that grows up to the limit. */
function createRequestTimes(countMax: number): RequestTimes {
  let ring = new Float64Array(Math.min(countMax, INITIAL_RING_LENGTH));
  let first = 0;
  let count = 0;
  let newest = -Infinity;

  function dropOld(now: number): void {
    // After the clock was set back, the old times lie in the future and would never expire.
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
    window(now) {
      dropOld(now);
      if (count === 0) return NO_REQUESTS;
      return { count, nextFreeMs: (ring[first] ?? now) + WINDOW_MS - now };
    },
    isExpired: (now) => now - newest >= WINDOW_MS,
  };
}
