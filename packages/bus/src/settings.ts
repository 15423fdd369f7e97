import { optional, setting, text, urlWith, withDefault } from '@model-gateway/kernel';

const redisUrl = urlWith('redis', 'rediss');
// The URL can carry a password.
const redisUrlNotes = {
  description: 'Redis 7+ or Valkey that the processes share.',
  secret: true,
} as const;

/** For apps that start an embedded Redis when none is configured. */
export const optionalRedisUrlSetting = setting('REDIS_URL', optional(redisUrl), {
  ...redisUrlNotes,
  defaultText: 'embedded',
});

/** The prefix of every key and channel, so that several installations can share one Redis. */
export const redisPrefixSetting = setting('SERVICE_REDIS_PREFIX', withDefault(text(), 'service:'), {
  description:
    'The prefix of every Redis key and channel, so that several installations can share one Redis.',
});

/** The settings of apps that need a Redis. */
export const busSettings = {
  redisUrl: setting('REDIS_URL', redisUrl, { ...redisUrlNotes, defaultText: 'required' }),
  redisPrefix: redisPrefixSetting,
};
