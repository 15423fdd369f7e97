import type { Log } from '@model-gateway/kernel';
import type { LimitStore, LocalLimits, Place } from '@model-gateway/router';
import type { RedisConnection } from '../redis/redis-connection.ts';
import type { FallBack } from './fall-back.ts';

interface FailoverLimitsOptions {
  readonly connection: RedisConnection;
  readonly redis: LimitStore;
  readonly local: LocalLimits;
  readonly fallBack: FallBack;
  readonly log: Log;
}

/** More than that expire by themselves. */
const UNRELEASED_MAX = 1_000;

/**
 * While Redis is unavailable, each process applies the limits to its own requests, including those that began before. The
 * places that were taken and released meanwhile are taken and released on Redis afterwards.
 */
export function createFailoverLimits(options: FailoverLimitsOptions): LimitStore {
  const { connection, redis, local, fallBack, log } = options;

  /** Places that may still be taken on Redis. */
  let unreleased: readonly Place[] = [];

  connection.onChange(() => {
    if (!connection.commandsReady()) return;
    const released = unreleased;
    unreleased = [];
    Promise.all([
      redis.keep(local.places()),
      ...released.map((place) => redis.release(place)),
    ]).catch((error: unknown) => {
      log.warn({ error }, 'copying the places of requests to Redis failed');
    });
  });

  const releaseLater = async (place: Place): Promise<void> => {
    unreleased = [...unreleased.slice(1 - UNRELEASED_MAX), place];
    return Promise.resolve();
  };
  const onlyLocally = (): Promise<void> => Promise.resolve();

  return {
    take: (place, limits) =>
      fallBack(
        async () => {
          const limit = await redis.take(place, limits);
          if (limit === undefined) local.note(place, limits);
          return limit;
        },
        () => local.take(place, limits),
      ),
    reached: (name, limits) =>
      fallBack(
        () => redis.reached(name, limits),
        () => local.reached(name, limits),
      ),
    async keep(places) {
      await local.keep(places);
      await fallBack(() => redis.keep(places), onlyLocally);
    },
    async release(place) {
      await local.release(place);
      await fallBack(
        () => redis.release(place),
        () => releaseLater(place),
      );
    },
    async addTokens(name, tokens) {
      await local.addTokens(name, tokens);
      await fallBack(() => redis.addTokens(name, tokens), onlyLocally);
    },
  };
}
