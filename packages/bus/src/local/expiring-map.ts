import type { Clock } from '@model-gateway/kernel';

/** A map whose entries can expire. Without a timer: expired entries are deleted on access or when the map has doubled. */
export interface ExpiringMap<Value> {
  get(key: string): ExpiringEntry<Value> | undefined;
  set(key: string, value: Value, expiresAt: number): void;
  delete(key: string): void;
}

export interface ExpiringEntry<Value> {
  readonly value: Value;
  /** Milliseconds since the epoch; infinite when it never expires. */
  readonly expiresAt: number;
}

const SWEEP_ENTRIES_MIN = 1024;

export function createExpiringMap<Value>(clock: Clock): ExpiringMap<Value> {
  const map = new Map<string, ExpiringEntry<Value>>();
  let sweepAtSize = SWEEP_ENTRIES_MIN;

  function sweep(): void {
    const now = clock.now();
    for (const [key, { expiresAt }] of map) {
      if (expiresAt <= now) map.delete(key);
    }
    sweepAtSize = Math.max(SWEEP_ENTRIES_MIN, map.size * 2);
  }

  return {
    get(key) {
      const entry = map.get(key);
      if (entry === undefined || entry.expiresAt > clock.now()) return entry;
      map.delete(key);
      return undefined;
    },
    set(key, value, expiresAt) {
      map.set(key, { value, expiresAt });
      if (map.size >= sweepAtSize) sweep();
    },
    delete: (key) => void map.delete(key),
  };
}
