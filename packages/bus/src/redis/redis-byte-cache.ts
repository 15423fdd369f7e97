import type { ByteCache } from '@model-gateway/kernel';
import { requireExpiryTime } from '../expiry-time.ts';
import type { RedisConnection } from './redis-connection.ts';
import { script } from './script.ts';

interface RedisByteCacheOptions {
  readonly connection: RedisConnection;
  readonly prefix: string;
  /** How many bytes all entries may have together. */
  readonly bytesMax?: number;
}

const BYTES_MAX = 256 * 1024 * 1024;

// KEYS: the entry, the sizes by name, the names by expiry. The field '' of the sizes is their sum. Redis removes expired
// entries by itself, so that their sizes are removed here: all of them, once the list of names has expired. When there is
// no room, entries are removed that expire first.
const PUT = script(`
local name, size, kept, max = ARGV[1], tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function forget(one)
  local known = redis.call('HGET', KEYS[2], one)
  if known then
    redis.call('HINCRBY', KEYS[2], '', -known)
    redis.call('HDEL', KEYS[2], one)
  end
  redis.call('ZREM', KEYS[3], one)
end
if redis.call('EXISTS', KEYS[3]) == 0 then redis.call('DEL', KEYS[2]) end
for _, one in ipairs(redis.call('ZRANGE', KEYS[3], '-inf', now, 'BYSCORE', 'LIMIT', 0, 100)) do forget(one) end
forget(name)
local sum = tonumber(redis.call('HGET', KEYS[2], '') or '0')
for _ = 1, size <= max and 1000 or 0 do
  if sum + size <= max then break end
  local first = redis.call('ZRANGE', KEYS[3], 0, 0)[1]
  if not first then break end
  redis.call('UNLINK', ARGV[6] .. first)
  forget(first)
  sum = tonumber(redis.call('HGET', KEYS[2], '') or '0')
end
if sum + size > max then
  redis.call('UNLINK', KEYS[1])
  return 0
end
redis.call('SET', KEYS[1], ARGV[2], 'PX', kept)
redis.call('HSET', KEYS[2], name, size)
redis.call('HINCRBY', KEYS[2], '', size)
redis.call('ZADD', KEYS[3], now + kept, name)
for index = 2, 3 do
  if redis.call('PTTL', KEYS[index]) < kept then redis.call('PEXPIRE', KEYS[index], kept * 2) end
end
return 1
`);

/** Bytes that all processes on one Redis share. All entries together have a limit, because Redis has other work too. */
export function createRedisByteCache(options: RedisByteCacheOptions): ByteCache {
  const { connection, prefix, bytesMax = BYTES_MAX } = options;
  const begin = `${prefix}bytes:`;
  return {
    async get(key) {
      const found = await connection.run((client) => client.getBuffer(begin + key));
      return found ?? undefined;
    },
    async put(key, bytes, { expiresAfterMs }) {
      requireExpiryTime(expiresAfterMs);
      const keys = [begin + key, `${prefix}bytes-sizes`, `${prefix}bytes-expiries`];
      const value = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      const numbers = [bytes.byteLength, expiresAfterMs, bytesMax].map(String);
      const values = [key, value, ...numbers, begin];
      return (await connection.run((client) => PUT.run(client, keys, values))) === 1;
    },
  };
}
