import type { Entries } from '@model-gateway/kernel';
import { z } from 'zod';
import { requireExpiryTime } from '../expiry-time.ts';
import type { RedisConnection } from './redis-connection.ts';
import { script } from './script.ts';

const CLAIM = script(`
local value = redis.call('GET', KEYS[1])
if value then return value end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return ARGV[1]
`);

const REMOVE_IF = script(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])
`);

interface RedisEntriesOptions {
  readonly connection: RedisConnection;
  readonly prefix: string;
}

/** Entries that all processes on one Redis share. */
export function createRedisEntries({ connection, prefix }: RedisEntriesOptions): Entries {
  const keyOf = (key: string): string => `${prefix}entry:${key}`;
  return {
    async get(key) {
      return (await connection.run((client) => client.get(keyOf(key)))) ?? undefined;
    },
    async put(key, value, { expiresAfterMs }) {
      requireExpiryTime(expiresAfterMs);
      await connection.run((client) => client.set(keyOf(key), value, 'PX', expiresAfterMs));
    },
    async putIfAbsent(key, value, { expiresAfterMs }) {
      requireExpiryTime(expiresAfterMs);
      const values = [value, String(expiresAfterMs)];
      return z
        .string()
        .parse(await connection.run((client) => CLAIM.run(client, [keyOf(key)], values)));
    },
    async remove(key) {
      await connection.run((client) => client.del(keyOf(key)));
    },
    async removeIf(key, value) {
      return (await connection.run((client) => REMOVE_IF.run(client, [keyOf(key)], [value]))) === 1;
    },
  };
}
