import type { AdmissionStore } from '@model-gateway/billing';
import type { Clock } from '@model-gateway/kernel';
import { LRUCache } from 'lru-cache';
import type { RequestLimiter } from './request-limiter.ts';

interface SharedRequestLimiterOptions {
  /** 0 refuses everything. */
  readonly requestsPerMinute: number;
  readonly admission: Pick<AdmissionStore, 'admit'>;
  readonly clock: Clock;
}

const KEYS_MAX = 10_000;
const ANY_EPOCH = Number.MAX_SAFE_INTEGER;
const WINDOW_MS = 60_000;

/** Counts over all processes that serve one port, where the other limits are counted. */
export function createSharedRequestLimiter(options: SharedRequestLimiterOptions): RequestLimiter {
  const { requestsPerMinute, admission, clock } = options;
  /** What the last request of a key was answered, for the headers. */
  const windows = new LRUCache<string, { readonly count: number; readonly freeAt: number }>({
    max: KEYS_MAX,
  });
  return {
    requestsPerMinute,
    windowOf(key) {
      const { count = 0, freeAt = 0 } = windows.get(key) ?? {};
      return { count, nextFreeMs: Math.max(0, freeAt - clock.now()) };
    },
    async admits(key) {
      if (requestsPerMinute === 0) return false;
      const limits = [{ name: `process:${key}`, requestsPerMinute }];
      const answer = await admission.admit({ knownEpoch: ANY_EPOCH, limits });
      if (answer.outcome === 'limited') {
        const freeAt = windows.get(key)?.freeAt ?? clock.now() + WINDOW_MS;
        windows.set(key, { count: requestsPerMinute, freeAt });
        return false;
      }
      const [counted] = 'counted' in answer ? answer.counted : [];
      if (counted !== undefined)
        windows.set(key, { count: counted.count, freeAt: clock.now() + counted.nextFreeMs });
      return true;
    },
  };
}
