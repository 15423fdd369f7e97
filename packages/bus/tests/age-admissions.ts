import { Redis } from 'ioredis';
import { sharedRedisUrl } from './subjects.ts';

const MINUTE_US = 60_000_000;

/** Makes what was admitted on Redis that much older: nobody can move the clock of Redis. */
export async function ageAdmissions(prefix: string, milliseconds: number): Promise<void> {
  const client = new Redis(sharedRedisUrl());
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
  } finally {
    client.disconnect();
  }
}
