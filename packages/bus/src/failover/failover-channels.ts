import { describeError, randomToken, type Channels, type Log } from '@model-gateway/kernel';
import type { RedisChannels } from '../redis/redis-channels.ts';
import type { RedisConnection } from '../redis/redis-connection.ts';

interface FailoverChannelsOptions {
  readonly connection: Pick<RedisConnection, 'commandsReady' | 'channelsReady' | 'onChange'>;
  readonly redis: Pick<RedisChannels, 'publish' | 'listen'>;
  readonly local: Channels;
  readonly log: Log;
}

const WARN_EVERY_MS = 10_000;

/**
 * The listeners of this process get its messages directly, with and without Redis. Redis carries them to the other processes:
 * each message begins with a token of its process, which ignores it when it comes back.
 */
export function createFailoverChannels(options: FailoverChannelsOptions): Channels {
  const { connection, redis, local, log } = options;
  const from = randomToken();
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

  async function publishElsewhere(channel: string, message: string): Promise<number> {
    if (!connection.commandsReady()) return 0;
    try {
      return await redis.publish(channel, from + message);
    } catch (error) {
      warn(channel, error);
      return 0;
    }
  }

  /** Resolves when the subscription is live on Redis, or when Redis is unavailable. */
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
      const [here, elsewhere] = await Promise.all([
        local.publish(channel, message),
        publishElsewhere(channel, message),
      ]);
      // Redis counts this process too, once its subscription is live.
      return Math.max(here, elsewhere);
    },
    async subscribe(channel, onMessage) {
      const here = await local.subscribe(channel, onMessage);
      const there = redis.listen(channel, (text) => {
        if (!text.startsWith(from)) onMessage(text.slice(from.length));
      });
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
