import { Redis } from 'ioredis';
import { eventually } from './eventually.ts';
import { sharedRedisUrl } from './subjects.ts';

const MINUTE_US = 60_000_000;
const SPAN_MS = 5_000;

/** The calls and reservations that are on Redis a moment later, when nothing is pending any more. */
export async function leftOverCalls(prefix: string): Promise<readonly string[]> {
  const client = new Redis(sharedRedisUrl());
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
    for (const key of await client.keys(`${prefix}tokens:*`)) {
      const [name, span] = [
        key.slice(0, key.lastIndexOf(':')),
        key.slice(key.lastIndexOf(':') + 1),
      ];
      await client.rename(key, `${name}:${Number(span) - Math.floor(milliseconds / SPAN_MS)}`);
    }
    for (const pattern of ['calls:*', 'reserved:*']) {
      for (const key of await client.keys(`${prefix}${pattern}`)) {
        const older = new Map<string, Buffer>();
        for (const [id, value] of Object.entries(await client.hgetallBuffer(key)))
          older.set(id, withOlderTimes(id, value, milliseconds));
        await client.hset(key, older);
      }
    }
  } finally {
    client.disconnect();
  }
}

// Where the times are in a tally: of a call, and of the sums.
const CALL_TIMES = [0, 8];
const SUMS_TIMES = [48];

function withOlderTimes(id: string, value: Buffer, milliseconds: number): Buffer {
  for (const at of id === '#' ? SUMS_TIMES : CALL_TIMES) {
    const time = value.readDoubleLE(at);
    if (time > 0) value.writeDoubleLE(time - milliseconds, at);
  }
  return value;
}
