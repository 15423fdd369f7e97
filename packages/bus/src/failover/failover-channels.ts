import { describeError, type Channels, type Log } from '@model-gateway/kernel';
import type { LocalChannels } from '../local/local-channels.ts';
import type { RedisChannels } from '../redis/redis-channels.ts';
import type { RedisConnection } from '../redis/redis-connection.ts';
import type { UnconfirmedPublishes } from './unconfirmed-publishes.ts';

interface FailoverChannelsOptions {
  readonly connection: Pick<RedisConnection, 'channelsReady' | 'onChange'>;
  readonly redis: Pick<RedisChannels, 'publish' | 'listen'>;
  readonly local: LocalChannels;
  /** Notified of messages from Redis. */
  readonly unconfirmed: UnconfirmedPublishes;
  readonly log: Log;
}

const WARN_EVERY_MS = 10_000;

/**
 * Listeners are registered on Redis and locally, and a message goes to one of them: to Redis while every subscription of this
 * process is live there, else to the local listeners. So no listener gets a message twice.
 */
export function createFailoverChannels(options: FailoverChannelsOptions): Channels {
  const { connection, redis, local, unconfirmed, log } = options;
  let failed = 0;
  let warnedAt = -Infinity;

  /** One log line for many: when the connection to Redis ends, all pending messages fail at once. */
  function warn(channel: string, error: unknown): void {
    failed += 1;
    if (performance.now() - warnedAt < WARN_EVERY_MS) return;
    // The part after the colon can be the secret name of a stream.
    const [kind] = channel.split(':', 1);
    log.warn(
      { channel: kind, messages: failed, reason: describeError(error) },
      'publishing a message failed; listeners in other processes do not get it',
    );
    failed = 0;
    warnedAt = performance.now();
  }

  async function publishThroughRedis(channel: string, message: string): Promise<number> {
    // Without local listeners there is no fallback.
    if (local.count(channel) === 0)
      return redis.publish(channel, message).catch((error: unknown) => {
        warn(channel, error);
        return 0;
      });
    const publish = unconfirmed.begin(channel, message);
    try {
      return await redis.publish(channel, message);
    } catch (error) {
      if (publish.hasArrived()) return local.count(channel);
      warn(channel, error);
      return await local.publish(channel, message);
    } finally {
      publish.end();
    }
  }

  /** Resolves when the subscription is live on Redis, or when Redis is unavailable and the local one is used. */
  function liveOrUnavailable(live: Promise<void>): Promise<void> {
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
      // Messages that were sent to Redis before the outage are still being delivered locally.
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
        await liveOrUnavailable(there.live);
      } catch (error) {
        await close();
        throw error;
      }
      return { close };
    },
  };
}
