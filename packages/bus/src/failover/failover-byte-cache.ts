import type { ByteCache } from '@model-gateway/kernel';
import type { FallBack } from './fall-back.ts';

interface FailoverByteCacheOptions {
  /** In this process. */
  readonly near: ByteCache;
  readonly redis: ByteCache;
  readonly fallBack: FallBack;
}

/** How long a process uses what another one stored before it asks Redis again. */
const COPY_KEPT_MS = 10_000;

/** On Redis, with copies in this process. While Redis is unavailable, a process has what it kept itself. */
export function createFailoverByteCache(options: FailoverByteCacheOptions): ByteCache {
  const { near, redis, fallBack } = options;
  return {
    async get(key) {
      const kept = await near.get(key);
      if (kept !== undefined) return kept;
      const found = await fallBack(
        () => redis.get(key),
        () => Promise.resolve(undefined),
      );
      if (found !== undefined) await near.put(key, found, { expiresAfterMs: COPY_KEPT_MS });
      return found;
    },
    async put(key, bytes, keeping) {
      await near.put(key, bytes, keeping);
      return fallBack(
        () => redis.put(key, bytes, keeping),
        () => Promise.resolve(false),
      );
    },
  };
}
