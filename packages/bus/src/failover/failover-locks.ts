import type { Lock, Locks } from '@model-gateway/kernel';
import type { RedisConnection } from '../redis/redis-connection.ts';
import type { FallBack } from './fall-back.ts';

interface FailoverLocksOptions {
  readonly connection: Pick<RedisConnection, 'commandsReady'>;
  readonly redis: Locks;
  readonly local: Locks;
  readonly fallBack: FallBack;
}

/** A lock is lost when Redis becomes unavailable or available: its holder then acquires it again, there or here. */
export function createFailoverLocks(options: FailoverLocksOptions): Locks {
  const { connection, redis, local, fallBack } = options;

  async function acquireIn(
    locks: Locks,
    { onRedis }: { readonly onRedis: boolean },
    ...[name, expiresAfterMs]: Parameters<Locks['acquire']>
  ): Promise<Lock | undefined> {
    const lock = await locks.acquire(name, expiresAfterMs);
    if (lock === undefined) return undefined;
    const release = (): Promise<boolean> => lock.release().catch(() => false);
    const isServing = (): boolean => connection.commandsReady() === onRedis;
    return {
      // The local lock is also released, because a Redis that refuses commands can lead back to it.
      extend: async (extendedByMs) =>
        isServing() ? lock.extend(extendedByMs).catch(() => false) : release().then(() => false),
      release,
    };
  }

  return {
    acquire: (...lock) =>
      fallBack(
        () => acquireIn(redis, { onRedis: true }, ...lock),
        () => acquireIn(local, { onRedis: false }, ...lock),
      ),
  };
}
