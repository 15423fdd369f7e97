import { list, optional, setting, text, urlWith, withDefault } from '@model-gateway/kernel';
import type { z } from 'zod';
import type { RedisAddress } from './redis/redis-address.ts';

const redisUrl = urlWith('redis', 'rediss');
// The URL can carry a password.
const redisUrlNotes = {
  description: 'Redis 7+ or Valkey that the processes share; `rediss://` with TLS.',
  secret: true,
} as const;
const ADDRESS = /^(?:\[([\da-f:]+)\]|([^\s:/@[\]]+))(?::(\d{1,5}))?$/i;

/** For apps that start an embedded Redis when none is configured. */
export const optionalRedisUrlSetting = setting('REDIS_URL', optional(redisUrl), {
  ...redisUrlNotes,
  defaultText: 'embedded',
});

/** How Redis is reached besides its URL, and how its keys begin. */
export const redisAccessSettings = {
  redisPrefix: setting('SERVICE_REDIS_PREFIX', withDefault(text(), 'service:'), {
    description:
      'The prefix of every Redis key and channel, so that several installations can share one Redis.',
  }),
  redisCaFile: setting('SERVICE_REDIS_CA_FILE', optional(text()), {
    description:
      'A PEM file with the certificate authority of a `rediss://` server; without it those that Node.js knows.',
    defaultText: 'unset',
  }),
  redisSentinels: setting('SERVICE_REDIS_SENTINELS', optional(addresses(26_379)), {
    description:
      'The addresses of the Sentinels, such as `sentinel-0:26379,sentinel-1:26379`. They name the primary; the host of `REDIS_URL` is not used.',
    defaultText: 'unset',
  }),
  redisMaster: setting('SERVICE_REDIS_MASTER', withDefault(text(), 'mymaster'), {
    description: 'The name under which the Sentinels monitor the primary.',
  }),
  redisSentinelUser: setting('SERVICE_REDIS_SENTINEL_USER', optional(text()), {
    description: 'The user of the Sentinels, where they have one.',
    defaultText: 'unset',
  }),
  redisSentinelPassword: setting('SERVICE_REDIS_SENTINEL_PASSWORD', optional(text()), {
    description: 'The password of the Sentinels, where they have one.',
    defaultText: 'unset',
    secret: true,
  }),
  redisCluster: setting('SERVICE_REDIS_CLUSTER', optional(addresses(6379)), {
    description:
      'The addresses of some nodes of a Redis Cluster, such as `redis-0:6379,redis-1:6379`. All keys are in one slot, and the host of `REDIS_URL` is not used.',
    defaultText: 'unset',
  }),
};

/** The settings of apps that need a Redis. */
export const busSettings = {
  redisUrl: setting('REDIS_URL', redisUrl, { ...redisUrlNotes, defaultText: 'required' }),
  ...redisAccessSettings,
};

/** A comma-separated list of hosts, each with or without a port. */
function addresses(defaultPort: number): z.ZodType<readonly RedisAddress[], string> {
  const message = 'addresses such as redis-0:6379,redis-1:6379, without a scheme';
  return list()
    .refine(
      (entries) => entries.length > 0 && entries.every((entry) => ADDRESS.test(entry)),
      message,
    )
    .transform((entries) =>
      entries.map((entry) => {
        const [, address, name = '', port = String(defaultPort)] = ADDRESS.exec(entry) ?? [];
        return { host: address ?? name, port: Number(port) };
      }),
    );
}
