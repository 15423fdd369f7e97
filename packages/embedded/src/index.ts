export { lockDataDir } from './data-dir-lock.ts';
export { embeddedPostgresUrl, startPostgres } from './postgres.ts';
export { startQueueRedis } from './queue-redis.ts';
export { findRedisServer, startRedis } from './redis.ts';
export { publishAddress } from './service-address.ts';
export type { EmbeddedStore } from './supervised-store.ts';
