import { Redis } from 'ioredis';
import { eventually } from './eventually.ts';
import { sharedRedisUrl } from './subjects.ts';

const MINUTE_US = 60_000_000;
const SPAN_MS = 5_000;

// In one step: an end that is sent meanwhile must not be overwritten. The times are the first two numbers of a call, and the
// last of the sums.
const AGE_TALLIES = `
local function older(value, at)
  local time = struct.unpack('<d', value, at)
  if time <= 0 then return value end
  return string.sub(value, 1, at - 1) .. struct.pack('<d', time - ARGV[1]) .. string.sub(value, at + 8)
end
for _, key in ipairs(KEYS) do
  local fields = redis.call('HGETALL', key)
  for index = 1, #fields, 2 do
    local id, value = fields[index], fields[index + 1]
    if id == '#' then redis.call('HSET', key, id, older(value, 49))
    elseif id ~= '?' then redis.call('HSET', key, id, older(older(value, 1), 9)) end
  end
end
`;

/** The calls and reservations that are on Redis a moment later, when nothing is pending any more. */
export async function leftOverCalls(
  prefix: string,
  client = new Redis(sharedRedisUrl()),
): Promise<readonly string[]> {
  const read = async () => [
    ...(await client.keys(`${prefix}calls:*`)),
    ...(await client.keys(`${prefix}reserved:*`)),
  ];
  try {
    await eventually('nothing is left', async () => (await read()).length === 0);
    return await read();
  } finally {
    client.disconnect();
  }
}

/** Makes what was admitted on Redis that much older, because its clock cannot be moved. */
export async function ageAdmissions(
  prefix: string,
  milliseconds: number,
  client = new Redis(sharedRedisUrl()),
): Promise<void> {
  try {
    const times: [log: string, time: number][] = [];
    for (const key of await client.keys(`${prefix}admitted:*`)) {
      const log = key.slice(0, key.lastIndexOf(':'));
      for (const time of await client.lrange(key, 0, -1)) times.push([log, Number(time)]);
      await client.del(key);
    }
    for (const [log, time] of times.toSorted(([, left], [, right]) => left - right)) {
      const older = time - milliseconds * 1_000;
      await client.rpush(`${log}:${Math.floor(older / MINUTE_US)}`, older);
    }
    for (const key of await client.keys(`${prefix}tokens:*`)) {
      const [name, span] = [
        key.slice(0, key.lastIndexOf(':')),
        key.slice(key.lastIndexOf(':') + 1),
      ];
      await client.rename(key, `${name}:${Number(span) - Math.floor(milliseconds / SPAN_MS)}`);
    }
    const tallies = [
      ...(await client.keys(`${prefix}calls:*`)),
      ...(await client.keys(`${prefix}reserved:*`)),
    ];
    await client.eval(AGE_TALLIES, tallies.length, ...tallies, milliseconds);
  } finally {
    client.disconnect();
  }
}
