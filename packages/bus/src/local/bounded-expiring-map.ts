import type { Clock } from '@model-gateway/kernel';
import { LRUCache } from 'lru-cache';
import type { ExpiringEntry, ExpiringMap } from './expiring-map.ts';

/** An expiring map with a limit: when it is full, the least recently used entry is dropped. */
export type BoundedExpiringMap<Value> = ExpiringMap<Value>;

interface BoundedExpiringMapOptions {
  readonly clock: Clock;
  readonly entriesMax: number;
}

export function createBoundedExpiringMap<Value>(
  options: BoundedExpiringMapOptions,
): BoundedExpiringMap<Value> {
  const { clock, entriesMax } = options;
  // The option `max` would allocate memory for all entries at once. Its `ttl` keeps an entry one millisecond too long.
  const map = new LRUCache<string, ExpiringEntry<Value>>({
    maxSize: entriesMax,
    sizeCalculation: () => 1,
  });
  return {
    get(key) {
      const entry = map.get(key);
      if (entry === undefined || entry.expiresAt > clock.now()) return entry;
      map.delete(key);
      return undefined;
    },
    set: (key, value, expiresAt) => void map.set(key, { value, expiresAt }),
    delete: (key) => void map.delete(key),
  };
}
