import { Redis } from 'ioredis';
import { eventually } from './eventually.ts';
import { sharedRedisUrl } from './subjects.ts';

const SPAN_MS = 5_000;

/** The calls and reservations that are on Redis a moment later, when nothing is pending any more. */
export async function leftOverCalls(
  prefix: string,
  client = new Redis(sharedRedisUrl()),
): Promise<readonly string[]> {
  const read = async () => [
    ...(await client.keys(`${prefix}call:*`)),
    ...(await client.keys(`${prefix}sums:*`)),
    ...(await client.keys(`${prefix}calls-due`)),
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
    for (const key of await client.keys(`${prefix}admitted:*`)) {
      const times = await client.lrange(key, 0, -1);
      await client.del(key);
      await client.rpush(key, ...times.map((time) => Number(time) - milliseconds));
    }
    for (const key of await client.keys(`${prefix}tokens:*`)) {
      const [name, span] = [
        key.slice(0, key.lastIndexOf(':')),
        key.slice(key.lastIndexOf(':') + 1),
      ];
      await client.rename(key, `${name}:${Number(span) - Math.floor(milliseconds / SPAN_MS)}`);
    }
    // A call that ends meanwhile is not put back.
    for (const name of await client.zrange(`${prefix}calls-due`, '0', '-1')) {
      await client.zadd(`${prefix}calls-due`, 'XX', 'INCR', -milliseconds, name);
    }
  } finally {
    client.disconnect();
  }
}
