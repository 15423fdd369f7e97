import type { Counters, Log } from '@model-gateway/kernel';
import type { LocalCount, LocalCounters } from '../local/local-counters.ts';
import type { RedisConnection } from '../redis/redis-connection.ts';
import { requireWholeNumber } from '../whole-number.ts';
import type { FallBack } from './fall-back.ts';

interface FailoverCountersOptions {
  readonly connection: RedisConnection;
  readonly redis: Counters;
  readonly local: LocalCounters;
  readonly fallBack: FallBack;
  readonly log: Log;
}

/**
 * While Redis is unavailable counters start at 0 in this process; afterwards they are added to the shared ones, so that no
 * count is lost.
 */
export function createFailoverCounters(options: FailoverCountersOptions): Counters {
  const { connection, redis, local, fallBack, log } = options;
  const removedMeanwhile = new Set<string>();

  async function handBackCount({ key, value, expiresAfterMs }: LocalCount): Promise<void> {
    const created = expiresAfterMs === undefined ? {} : { expiresAfterMs };
    await fallBack(
      () => redis.add(key, value, created),
      () => local.add(key, value, created),
    );
  }

  async function handBackAll(): Promise<void> {
    const removed = [...removedMeanwhile];
    removedMeanwhile.clear();
    // Counts since the removal stay; only the removal itself is repeated later.
    const removals = removed.map((key) =>
      redis.remove(key).catch(() => void removedMeanwhile.add(key)),
    );
    await Promise.all(removals);
    await Promise.all(local.takeAll().map(handBackCount));
  }

  connection.onChange(() => {
    if (!connection.commandsReady()) return;
    handBackAll().catch((error: unknown) => log.error({ error }, 'copying counts to Redis failed'));
  });

  return {
    async add(key, by, addOptions) {
      requireWholeNumber(by);
      return fallBack(
        () => redis.add(key, by, addOptions),
        () => local.add(key, by, addOptions),
      );
    },
    read: (keys) =>
      fallBack(
        () => redis.read(keys),
        () => local.read(keys),
      ),
    remove: (key) =>
      fallBack(
        () => redis.remove(key),
        () => {
          removedMeanwhile.add(key);
          return local.remove(key);
        },
      ),
  };
}
