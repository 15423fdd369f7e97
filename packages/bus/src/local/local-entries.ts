import type { Clock, Entries } from '@model-gateway/kernel';
import { requireExpiryTime } from '../expiry-time.ts';
import { createBoundedExpiringMap } from './bounded-expiring-map.ts';

const ENTRIES_MAX = 100_000;

/** Entries inside one process. */
export function createLocalEntries({ clock }: { readonly clock: Clock }): Entries {
  const map = createBoundedExpiringMap<string>({ clock, entriesMax: ENTRIES_MAX });
  return {
    get: (key) => Promise.resolve(map.get(key)?.value),
    async put(key, value, { expiresAfterMs }) {
      requireExpiryTime(expiresAfterMs);
      map.set(key, value, clock.now() + expiresAfterMs);
      return Promise.resolve();
    },
    async putIfAbsent(key, value, { expiresAfterMs }) {
      requireExpiryTime(expiresAfterMs);
      const entry = map.get(key);
      if (entry === undefined) map.set(key, value, clock.now() + expiresAfterMs);
      return Promise.resolve(entry?.value ?? value);
    },
    remove(key) {
      map.delete(key);
      return Promise.resolve();
    },
    removeIf(key, value) {
      const isHeld = map.get(key)?.value === value;
      if (isHeld) map.delete(key);
      return Promise.resolve(isHeld);
    },
  };
}
