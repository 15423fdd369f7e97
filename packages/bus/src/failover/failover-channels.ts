import type { Channels } from '@model-gateway/kernel';
import type { LocalChannels } from '../local/local-channels.ts';
import type { RedisChannels } from '../redis/redis-channels.ts';
import type { RedisConnection } from '../redis/redis-connection.ts';
import type { UnconfirmedPublishes } from './unconfirmed-publishes.ts';

interface FailoverChannelsOptions {
  readonly connection: RedisConnection;
  readonly redis: RedisChannels;
  readonly local: LocalChannels;
  /** Told of arrivals by the Redis side. */
  readonly unconfirmed: UnconfirmedPublishes;
}

/**
 * Listeners sit on both sides and a message goes to one of them: to Redis while every subscription of this process is
 * live there, else to the listeners of this process. So no listener gets a message twice.
 */
export function createFailoverChannels(options: FailoverChannelsOptions): Channels {
  const { connection, redis, local, unconfirmed } = options;

  async function publishThroughRedis(channel: string, message: string): Promise<number> {
    // Without listeners here there is nothing to fall back to.
    if (local.count(channel) === 0) return redis.publish(channel, message).catch(() => 0);
    const publish = unconfirmed.begin(channel, message);
    try {
      return await redis.publish(channel, message);
    } catch {
      if (publish.hasArrived()) return local.count(channel);
      return await local.publish(channel, message);
    } finally {
      publish.end();
    }
  }

  /** Resolves when the subscription is live on Redis, or when Redis is away and the local one is what counts. */
  function liveOrAway(live: Promise<void>): Promise<void> {
    if (!connection.channelsReady()) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const stop = connection.onChange(() => {
        if (connection.channelsReady()) return;
        stop();
        resolve();
      });
      live.finally(stop).then(resolve, reject);
    });
  }

  return {
    async publish(channel, message) {
      if (connection.channelsReady()) return publishThroughRedis(channel, message);
      // What was sent to Redis before it went away is still on its way to the local side.
      await unconfirmed.settled(channel);
      return local.publish(channel, message);
    },
    async subscribe(channel, onMessage) {
      const here = await local.subscribe(channel, onMessage);
      const there = redis.listen(channel, onMessage);
      const close = (): Promise<void> => {
        there.close();
        return here.close();
      };
      try {
        await liveOrAway(there.live);
      } catch (error) {
        await close();
        throw error;
      }
      return { close };
    },
  };
}
