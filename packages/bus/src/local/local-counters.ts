import type { Clock, Counters } from '@model-gateway/kernel';
import { requireWholeNumber } from '../whole-number.ts';
import { createExpiringMap } from './expiring-map.ts';

/** The local value of a counter, and its remaining time. */
export interface LocalCount {
  readonly key: string;
  readonly value: number;
  /** Undefined when the counter does not expire. */
  readonly expiresAfterMs: number | undefined;
}

/** Counters inside one process. */
export interface LocalCounters extends Counters {
  /** Removes and returns everything, to add it to a shared counter. */
  takeAll(): readonly LocalCount[];
}

export function createLocalCounters({ clock }: { readonly clock: Clock }): LocalCounters {
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
    takeAll() {
      const now = clock.now();
      const taken = counts.entries().map(([key, { value, expiresAt }]) => ({
        key,
        value,
        expiresAfterMs: expiresAt === Infinity ? undefined : expiresAt - now,
      }));
      counts.clear();
      return taken;
    },
  };
}
