import type { Log } from '@model-gateway/kernel';
import type { RedisConnection } from '../redis/redis-connection.ts';

/** Serves a call from Redis while it is ready, and locally while it is unavailable or refuses. */
export type FallBack = <Answer>(
  viaRedis: () => Promise<Answer>,
  locally: () => Promise<Answer>,
) => Promise<Answer>;

// A Redis that is full or read-only fails every call; this is logged once in a while.
const WARN_EVERY_MS = 10_000;

export function createFallBack(connection: RedisConnection, log: Log): FallBack {
  let warnedAt = -Infinity;

  function warn(error: unknown): void {
    if (performance.now() - warnedAt <= WARN_EVERY_MS) return;
    warnedAt = performance.now();
    log.warn({ error }, 'Redis did not serve a call; this process serves it locally');
  }

  return (viaRedis, locally) =>
    connection.commandsReady()
      ? viaRedis().catch((error: unknown) => {
          warn(error);
          return locally();
        })
      : locally();
}
