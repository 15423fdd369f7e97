import { loadConfig } from '@model-gateway/kernel';
import { busSettings, optionalRedisUrlSetting } from './settings.ts';

const redisUrl = 'rediss://user:secret@redis.example:6380/2';

test('the URL of a Redis and the prefix of its keys are taken', () => {
  const environment = { REDIS_URL: redisUrl, SERVICE_REDIS_PREFIX: 'blue:' };
  expect(loadConfig(busSettings, environment)).toEqual({ redisUrl, redisPrefix: 'blue:' });
  expect(loadConfig(busSettings, { REDIS_URL: redisUrl }).redisPrefix).toBe('service:');
});

test('only some apps go without a Redis', () => {
  expect(() => loadConfig(busSettings, {})).toThrow(/REDIS_URL is required/);
  expect(loadConfig({ redisUrl: optionalRedisUrlSetting }, {})).toEqual({ redisUrl: undefined });
});

test('a URL of another kind is refused without showing its password', () => {
  expect(() => loadConfig(busSettings, { REDIS_URL: 'http://user:hunter2@host' })).toThrow(
    /^(?!.*hunter2).*REDIS_URL must be a URL that starts with redis:\/\/ or rediss:\/\/;/,
  );
});
