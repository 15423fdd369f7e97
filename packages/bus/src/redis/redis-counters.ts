import type { Counters } from '@model-gateway/kernel';
import { requireWholeNumber } from '../whole-number.ts';
import type { RedisConnection } from './redis-connection.ts';
import { script } from './script.ts';

// The expiry is set on creation, so that a counter in constant use still expires.
const ADD = script(`
local created = redis.call('EXISTS', KEYS[1]) == 0
local value = redis.call('INCRBY', KEYS[1], ARGV[1])
if created and ARGV[2] ~= '' then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return value
`);

interface RedisCountersOptions {
  readonly connection: RedisConnection;
  readonly prefix: string;
}

/** The key of a counter, for other scripts that read it. */
export const redisCounterKey = (prefix: string, key: string): string => `${prefix}counter:${key}`;

/** Counters that all processes on one Redis share. */
export function createRedisCounters({ connection, prefix }: RedisCountersOptions): Counters {
  const keyOf = (key: string): string => redisCounterKey(prefix, key);
  return {
    async add(key, by, { expiresAfterMs } = {}) {
      requireWholeNumber(by);
      const values = [String(by), expiresAfterMs === undefined ? '' : String(expiresAfterMs)];
      return Number(await connection.run((client) => ADD.run(client, [keyOf(key)], values)));
    },
    async read(keys) {
      if (keys.length === 0) return [];
      const values = await connection.run((client) => client.mget(keys.map(keyOf)));
      return values.map(Number);
    },
    async remove(key) {
      await connection.run((client) => client.del(keyOf(key)));
    },
  };
}
