import type { Clock } from '@model-gateway/kernel';
import type { ExpiringMap } from './expiring-map.ts';
import { createExpiryQueue } from './expiry-queue.ts';

/** An expiring map with room for so many entries: when it is full, the one that would expire soonest makes way. */
export type BoundedExpiringMap<Value> = Pick<ExpiringMap<Value>, 'get' | 'set' | 'delete'>;

interface BoundedExpiringMapOptions {
  readonly clock: Clock;
  readonly entriesMax: number;
}

interface Item<Value> {
  readonly key: string;
  readonly value: Value;
  readonly expiresAt: number;
}

const SPARE_ITEMS = 1024;

export function createBoundedExpiringMap<Value>(
  options: BoundedExpiringMapOptions,
): BoundedExpiringMap<Value> {
  const { clock, entriesMax } = options;
  const map = new Map<string, Item<Value>>();
  // Holds also items that were replaced or removed since; they are passed over when they come to the front.
  const queue = createExpiryQueue<Item<Value>>();

  function makeRoom(): void {
    const now = clock.now();
    for (let item = queue.soonest(); item !== undefined; item = queue.soonest()) {
      const isCurrent = map.get(item.key) === item;
      if (isCurrent && item.expiresAt > now && map.size < entriesMax) return;
      queue.takeSoonest();
      if (isCurrent) map.delete(item.key);
    }
  }

  function dropReplaced(): void {
    queue.clear();
    for (const item of map.values()) queue.add(item);
  }

  return {
    get(key) {
      const item = map.get(key);
      if (item === undefined || item.expiresAt > clock.now()) return item;
      map.delete(key);
      return undefined;
    },
    set(key, value, expiresAt) {
      map.delete(key);
      makeRoom();
      const item = { key, value, expiresAt };
      map.set(key, item);
      queue.add(item);
      if (queue.size() > map.size * 2 + SPARE_ITEMS) dropReplaced();
    },
    delete: (key) => void map.delete(key),
  };
}
