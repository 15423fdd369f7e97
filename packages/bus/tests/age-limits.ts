import { Redis } from 'ioredis';
import { sharedRedisUrl } from './subjects.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** Makes what the limits of backends counted on Redis that much older, because its clock cannot be moved. */
export async function ageLimits(
  prefix: string,
  milliseconds: number,
  client = new Redis(sharedRedisUrl()),
): Promise<void> {
  try {
    for (const key of await client.keys(`${prefix}backend-places:*`)) {
      for (const id of await client.zrange(key, '0', '-1'))
        await client.zincrby(key, -milliseconds, id);
    }
    for (const key of await client.keys(`${prefix}backend-seconds:*`)) {
      const counts = Object.entries(await client.hgetall(key));
      await client.del(key);
      for (const [field, count] of counts) {
        const second = Number(field.slice(1)) - Math.floor(milliseconds / 1_000);
        await client.hset(key, `${field[0]}${second}`, count);
      }
    }
    for (const key of await client.keys(`${prefix}backend-day:*`)) {
      await client.hincrby(key, 'day', -Math.floor(milliseconds / DAY_MS));
    }
  } finally {
    client.disconnect();
  }
}
