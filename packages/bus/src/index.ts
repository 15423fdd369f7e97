export { createBus, type Bus } from './bus.ts';
export { queueConnection, type QueueConnection } from './redis/queue-connection.ts';
export type { RedisAccess } from './redis/redis-access.ts';
export { busSettings, optionalRedisUrlSetting, redisAccessSettings } from './settings.ts';
