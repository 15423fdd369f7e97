import type { ByteCache, Clock } from '@model-gateway/kernel';
import { LRUCache } from 'lru-cache';
import { requireExpiryTime } from '../expiry-time.ts';
import type { ExpiringEntry } from './expiring-map.ts';

interface LocalByteCacheOptions {
  readonly clock: Clock;
  readonly bytesMax?: number;
}

const BYTES_MAX = 32 * 1024 * 1024;
/** What an entry takes besides its bytes, about. */
const ENTRY_BYTES = 512;

/** Bytes in the memory of this process: when there is no room, the least recently used entries are dropped. */
export function createLocalByteCache({
  clock,
  bytesMax = BYTES_MAX,
}: LocalByteCacheOptions): ByteCache {
  const map = new LRUCache<string, ExpiringEntry<Uint8Array>>({
    maxSize: bytesMax,
    sizeCalculation: ({ value }) => value.byteLength + ENTRY_BYTES,
  });
  return {
    async get(key) {
      const entry = map.get(key);
      if (entry === undefined || entry.expiresAt > clock.now()) return entry?.value;
      map.delete(key);
      return undefined;
    },
    async put(key, value, { expiresAfterMs }) {
      requireExpiryTime(expiresAfterMs);
      map.set(key, { value, expiresAt: clock.now() + expiresAfterMs });
      return true;
    },
  };
}
