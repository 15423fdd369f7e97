import type { Lock, Locks } from '@model-gateway/kernel';
import type { RedisConnection } from '../redis/redis-connection.ts';
import type { FallBack } from './fall-back.ts';

interface FailoverLocksOptions {
  readonly connection: RedisConnection;
  readonly redis: Locks;
  readonly local: Locks;
  readonly fallBack: FallBack;
}

/**
 * A lock is taken inside this process first and then on Redis, so that the local one still works within this process when
 * Redis becomes unavailable. A lock that was taken or extended without Redis is taken there at the next extension.
 */
export function createFailoverLocks(options: FailoverLocksOptions): Locks {
  const { connection, redis, local, fallBack } = options;

  function compose(name: string, here: Lock, taken: Lock | undefined): Lock {
    let there = taken;
    let keptLocally = taken === undefined;

    async function extendThere(expiresAfterMs: number): Promise<boolean> {
      if ((await there?.extend(expiresAfterMs)) === true) return true;
      // Lost on Redis. It may be taken again only if it could not be extended because Redis was unavailable.
      if (there !== undefined && !keptLocally) return false;
      there = await redis.acquire(name, expiresAfterMs);
      return there !== undefined;
    }

    return {
      async extend(expiresAfterMs) {
        if (!(await here.extend(expiresAfterMs))) return false;
        const held = await fallBack(
          async () => {
            const kept = await extendThere(expiresAfterMs);
            keptLocally = false;
            return kept;
          },
          () => {
            keptLocally = true;
            return Promise.resolve(true);
          },
        );
        if (!held) await here.release();
        return held;
      },
      async release() {
        const releasedLocally = await here.release();
        const lock = there;
        if (lock === undefined || !connection.commandsReady()) return releasedLocally;
        const releasedOnRedis = await fallBack(
          () => lock.release(),
          () => Promise.resolve(true),
        );
        return releasedLocally && (releasedOnRedis || keptLocally);
      },
    };
  }

  return {
    async acquire(name, expiresAfterMs) {
      const here = await local.acquire(name, expiresAfterMs);
      if (here === undefined) return undefined;
      const there = await fallBack<Lock | 'taken' | undefined>(
        async () => (await redis.acquire(name, expiresAfterMs)) ?? 'taken',
        () => Promise.resolve(undefined),
      );
      if (there !== 'taken') return compose(name, here, there);
      await here.release();
      return undefined;
    },
  };
}
