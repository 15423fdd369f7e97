import { LIMIT_NAMES, PLACE_KEPT_MS, type LimitName, type LimitStore } from '@model-gateway/router';
import { z } from 'zod';
import type { RedisConnection } from './redis-connection.ts';
import { script } from './script.ts';

interface RedisLimitsOptions {
  readonly connection: RedisConnection;
  readonly prefix: string;
}

/** One more than a minute has, because the first second is over only in part. */
const SECONDS_COUNTED = 61;
const DAY_SECONDS = 24 * 60 * 60;

// Keys: the places by the time at which they expire; the requests (r) and tokens (t) of each second; the day and its tokens.
const KEYS_AND_TIME = `
local time = redis.call('TIME')
local second = tonumber(time[1])
local now = second * 1000 + math.floor(time[2] / 1000)
local day = math.floor(second / ${DAY_SECONDS})
`;

// Values: the id of the place, or nothing to check only; the limits in the order of their names, empty without a limit.
const TAKE = script(`
${KEYS_AND_TIME}
local concurrency, rpm = tonumber(ARGV[2]), tonumber(ARGV[3])
local tpm, tokensPerDay = tonumber(ARGV[4]), tonumber(ARGV[5])
if concurrency then
  redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
  if redis.call('ZCARD', KEYS[1]) >= concurrency then return 'concurrency' end
end
if rpm or tpm then
  local requests, tokens = 0, 0
  local held = redis.call('HGETALL', KEYS[2])
  for index = 1, #held, 2 do
    local field, count = held[index], tonumber(held[index + 1])
    if tonumber(string.sub(field, 2)) <= second - ${SECONDS_COUNTED} then
      redis.call('HDEL', KEYS[2], field)
    elseif string.sub(field, 1, 1) == 'r' then
      requests = requests + count
    else
      tokens = tokens + count
    end
  end
  if rpm and requests >= rpm then return 'rpm' end
  if tpm and tokens >= tpm then return 'tpm' end
end
if tokensPerDay then
  local held = redis.call('HMGET', KEYS[3], 'day', 'tokens')
  if tonumber(held[1] or -1) == day and tonumber(held[2]) >= tokensPerDay then
    return 'tokensPerDay'
  end
end
if ARGV[1] == '' then return '' end
if concurrency then
  redis.call('ZADD', KEYS[1], now + ${PLACE_KEPT_MS}, ARGV[1])
  redis.call('PEXPIRE', KEYS[1], ${PLACE_KEPT_MS})
end
if rpm then
  redis.call('HINCRBY', KEYS[2], 'r' .. second, 1)
  redis.call('EXPIRE', KEYS[2], ${SECONDS_COUNTED})
end
return ''
`);

// Values: the ids of the places. Its text is always sent: if it were sent again because Redis does not know it, a place that
// was released meanwhile would come back.
const KEEP = `
${KEYS_AND_TIME}
for _, id in ipairs(ARGV) do redis.call('ZADD', KEYS[1], now + ${PLACE_KEPT_MS}, id) end
redis.call('PEXPIRE', KEYS[1], ${PLACE_KEPT_MS})
return ''
`;

const ADD_TOKENS = script(`
${KEYS_AND_TIME}
redis.call('HINCRBY', KEYS[2], 't' .. second, ARGV[1])
redis.call('EXPIRE', KEYS[2], ${SECONDS_COUNTED})
if tonumber(redis.call('HGET', KEYS[3], 'day') or -1) ~= day then
  redis.call('HSET', KEYS[3], 'day', day, 'tokens', 0)
end
redis.call('HINCRBY', KEYS[3], 'tokens', ARGV[1])
redis.call('EXPIRE', KEYS[3], ${DAY_SECONDS})
return ''
`);

const takeAnswer = z
  .enum(['', ...LIMIT_NAMES])
  .transform((limit): LimitName | undefined => (limit === '' ? undefined : limit));

/** Limits that all processes on one Redis share, on the clock of Redis. */
export function createRedisLimits({ connection, prefix }: RedisLimitsOptions): LimitStore {
  const placesKey = (name: string): string => `${prefix}backend-places:${name}`;
  const keysOf = (name: string): readonly string[] => [
    placesKey(name),
    `${prefix}backend-seconds:${name}`,
    `${prefix}backend-day:${name}`,
  ];
  const take = async (id: string, ...[name, limits]: Parameters<LimitStore['reached']>) => {
    const values = [id, ...LIMIT_NAMES.map((limit) => String(limits[limit] ?? ''))];
    return takeAnswer.parse(
      await connection.run((client) => TAKE.run(client, keysOf(name), values)),
    );
  };
  return {
    take: ({ name, id }, limits) => take(id, name, limits),
    reached: (name, limits) => take('', name, limits),
    async keep(places) {
      // All at once: a place that is released while this waits must not come back.
      const names = [...new Set(places.map((place) => place.name))];
      await Promise.all(
        names.map((name) => {
          const ids = places.filter((place) => place.name === name).map(({ id }) => id);
          return connection.run((client) => client.eval(KEEP, 1, placesKey(name), ...ids));
        }),
      );
    },
    async release({ name, id }) {
      await connection.run((client) => client.zrem(placesKey(name), id));
    },
    async addTokens(name, tokens) {
      await connection.run((client) => ADD_TOKENS.run(client, keysOf(name), [String(tokens)]));
    },
  };
}
