import type { Clock } from '@model-gateway/kernel';
import type { ExpiringEntry } from './expiring-map.ts';
import type { BoundedExpiringMap } from './bounded-expiring-map.ts';

interface RecentMapOptions {
  readonly clock: Clock;
  readonly entriesMax: number;
}

/** An expiring map that keeps what was used last: when it is full, the least recently used entry makes way. */
export function createRecentMap<Value>(options: RecentMapOptions): BoundedExpiringMap<Value> {
  const { clock, entriesMax } = options;
  // A map iterates in the order of insertion; whatever is used is inserted anew.
  const map = new Map<string, ExpiringEntry<Value>>();

  function insertLast(key: string, entry: ExpiringEntry<Value>): void {
    map.delete(key);
    map.set(key, entry);
  }

  return {
    get(key) {
      const entry = map.get(key);
      if (entry === undefined) return undefined;
      if (entry.expiresAt > clock.now()) {
        insertLast(key, entry);
        return entry;
      }
      map.delete(key);
      return undefined;
    },
    set(key, value, expiresAt) {
      insertLast(key, { value, expiresAt });
      for (const oldest of map.keys()) {
        if (map.size <= entriesMax) return;
        map.delete(oldest);
      }
    },
    delete: (key) => void map.delete(key),
  };
}
