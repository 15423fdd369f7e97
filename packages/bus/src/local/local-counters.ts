import type { Clock, Counters } from '@model-gateway/kernel';
import { requireWholeNumber } from '../whole-number.ts';
import { createExpiringMap } from './expiring-map.ts';

/** Counters inside one process. */
export function createLocalCounters({ clock }: { readonly clock: Clock }): Counters {
  const counts = createExpiringMap<number>(clock);
  return {
    async add(key, by, { expiresAfterMs } = {}) {
      requireWholeNumber(by);
      const existing = counts.get(key);
      const value = (existing?.value ?? 0) + by;
      const created = expiresAfterMs === undefined ? Infinity : clock.now() + expiresAfterMs;
      counts.set(key, value, existing?.expiresAt ?? created);
      return Promise.resolve(value);
    },
    read: (keys) => Promise.resolve(keys.map((key) => counts.get(key)?.value ?? 0)),
    remove(key) {
      counts.delete(key);
      return Promise.resolve();
    },
  };
}
