import { loadConfig } from '@model-gateway/kernel';
import { busSettings, optionalRedisUrlSetting } from './settings.ts';

const redisUrl = 'rediss://user:secret@redis.example:6380/2';

test('the URL of a Redis and the prefix of its keys are taken', () => {
  const environment = { REDIS_URL: redisUrl, SERVICE_REDIS_PREFIX: 'blue:' };
  expect(loadConfig(busSettings, environment)).toMatchObject({ redisUrl, redisPrefix: 'blue:' });
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

test('Sentinels and nodes of a Cluster are lists of addresses', () => {
  const environment = {
    REDIS_URL: redisUrl,
    SERVICE_REDIS_SENTINELS: 'sentinel-0, 10.0.0.2:5000,[fd00::1]:26380',
    SERVICE_REDIS_CLUSTER: 'redis-0,redis-1:7000',
  };
  expect(loadConfig(busSettings, environment)).toMatchObject({
    redisSentinels: [
      { host: 'sentinel-0', port: 26_379 },
      { host: '10.0.0.2', port: 5000 },
      { host: 'fd00::1', port: 26_380 },
    ],
    redisMaster: 'mymaster',
    redisCluster: [
      { host: 'redis-0', port: 6379 },
      { host: 'redis-1', port: 7000 },
    ],
  });
  expect(() =>
    loadConfig(busSettings, { REDIS_URL: redisUrl, SERVICE_REDIS_SENTINELS: 'redis://host' }),
  ).toThrow(/SERVICE_REDIS_SENTINELS must be addresses such as/);
});
