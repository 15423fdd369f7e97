import type { Entries, Log } from '@model-gateway/kernel';
import { requireExpiryTime } from '../expiry-time.ts';
import type { RedisConnection } from '../redis/redis-connection.ts';
import type { RedisEntries } from '../redis/redis-entries.ts';
import type { FallBack } from './fall-back.ts';
import type { OwnEntries } from './own-entries.ts';

interface FailoverEntriesOptions {
  readonly connection: RedisConnection;
  readonly redis: RedisEntries;
  readonly own: OwnEntries;
  readonly fallBack: FallBack;
  readonly log: Log;
}

// Few enough that a slow Redis still replies to each within the command timeout.
const REPEAT_AT_ONCE = 200;

/**
 * While Redis is unavailable, an entry has the value that this process read or wrote last. Its changes are repeated on Redis
 * afterwards, before the entry is used there again, unless another process has changed the entry.
 */
export function createFailoverEntries(options: FailoverEntriesOptions): Entries {
  const { connection, redis, own, fallBack, log } = options;
  const repeating = new Map<string, Promise<void>>();

  async function repeat(key: string): Promise<void> {
    const missed = own.missed(key);
    if (missed === undefined) return;
    const outcome = await fallBack<boolean | 'refused'>(
      () => redis.repeat(key, missed.toRepeat()),
      () => Promise.resolve('refused'),
    );
    if (outcome === 'refused') return;
    // Redis has a value of another process, which this process has not read yet.
    if (!outcome && own.missed(key) === missed) own.remember(key, undefined);
    own.made(key, missed);
  }

  async function repeatOnce(key: string): Promise<void> {
    const work = repeating.get(key) ?? repeat(key).finally(() => repeating.delete(key));
    repeating.set(key, work);
    return work;
  }

  async function repeatAll(): Promise<void> {
    const keys = own.missedKeys();
    for (let at = 0; at < keys.length && connection.commandsReady(); at += REPEAT_AT_ONCE) {
      await Promise.all(keys.slice(at, at + REPEAT_AT_ONCE).map(repeatOnce));
    }
  }

  connection.onChange(() => {
    if (!connection.commandsReady()) return;
    repeatAll().catch((error: unknown) => log.error({ error }, 'copying entries to Redis failed'));
  });

  async function serve<Answer>(
    key: string,
    viaRedis: () => Promise<Answer>,
    locally: () => Promise<Answer>,
  ): Promise<Answer> {
    if (own.missed(key) !== undefined && connection.commandsReady()) await repeatOnce(key);
    // Redis does not have the current entry.
    if (own.missed(key) !== undefined) return locally();
    return fallBack(viaRedis, locally);
  }

  return {
    get: (key) =>
      serve(
        key,
        async () => {
          const knownBefore = own.known(key);
          const entry = await redis.read(key);
          // Unless it was written here before the reply arrived.
          if (own.known(key) === knownBefore) own.remember(key, entry);
          return entry?.value;
        },
        () => own.get(key),
      ),
    async put(key, value, times) {
      requireExpiryTime(times.expiresAfterMs);
      const putThere = async (): Promise<void> => {
        await redis.put(key, value, times);
        own.remember(key, { value, ...times });
      };
      return serve(key, putThere, () => own.put(key, value, times));
    },
    async putIfAbsent(key, value, times) {
      requireExpiryTime(times.expiresAfterMs);
      const claimThere = async (): Promise<string> => {
        const entry = await redis.claim(key, value, times);
        own.remember(key, entry);
        return entry.value;
      };
      return serve(key, claimThere, () => own.putIfAbsent(key, value, times));
    },
    remove(key) {
      const removeThere = async (): Promise<void> => {
        await redis.remove(key);
        own.remember(key, undefined);
      };
      return serve(key, removeThere, () => own.remove(key));
    },
    removeIf(key, value) {
      const removeThere = async (): Promise<boolean> => {
        const removed = await redis.removeIf(key, value);
        if (own.known(key)?.value === value) own.remember(key, undefined);
        return removed;
      };
      return serve(key, removeThere, () => own.removeIf(key, value));
    },
  };
}
