import {
  manualClock,
  randomToken,
  silentLog,
  type Log,
  type ManualClock,
} from '@model-gateway/kernel';
import { Redis } from 'ioredis';
import { createBus, type Bus } from '../src/index.ts';
import { createRedisConnection, type RedisConnection } from '../src/redis/redis-connection.ts';
import type { Subject } from './contract/subject.ts';
import { makeTemporaryDirectory, removeDirectory } from './temporary-directory.ts';

/** The Redis that all tests share. */
export function sharedRedisUrl(): string {
  const url = process.env['TEST_REDIS_URL'];
  if (url === undefined) throw new Error('TEST_REDIS_URL is not set');
  return url;
}

/** Keys of one test. */
export const newPrefix = (): string => `bus-test-${randomToken(8)}:`;

/** A bus without Redis, on a clock that the test moves. */
export async function localSubject<Port>(
  pick: (bus: Bus, clock: ManualClock) => Port,
): Promise<Subject<Port>> {
  const dataDir = await makeTemporaryDirectory();
  const clock = manualClock(1_000_000);
  const bus = createBus({ dataDir, log: silentLog, clock });
  await bus.start();
  return {
    port: pick(bus, clock),
    passTime: (milliseconds) => clock.advance(milliseconds),
    async close() {
      await bus.close();
      await removeDirectory(dataDir);
    },
  };
}

/** A bus on Redis, with the in-process side behind it. */
export async function failoverSubject<Port>(
  pick: (bus: Bus, prefix: string) => Port,
  { isRedisPrivate = false } = {},
): Promise<Subject<Port>> {
  const dataDir = await makeTemporaryDirectory();
  const prefix = newPrefix();
  const redisUrl = sharedRedisUrl();
  const bus = createBus({ redisUrl, prefix, dataDir, log: silentLog, isRedisPrivate });
  await bus.start();
  return {
    port: pick(bus, prefix),
    async close() {
      await bus.close();
      await removeKeys(redisUrl, prefix);
      await removeDirectory(dataDir);
    },
  };
}

/** A Redis adapter alone. */
export async function redisSubject<Port>(
  make: (options: { connection: RedisConnection; prefix: string; log: Log }) => Port,
): Promise<Subject<Port>> {
  const prefix = newPrefix();
  const connection = createRedisConnection({
    target: { url: sharedRedisUrl(), prefix },
    log: silentLog,
  });
  const port = make({ connection, prefix, log: silentLog });
  await connection.start();
  return {
    port,
    async close() {
      await connection.close();
      await removeKeys(sharedRedisUrl(), prefix);
    },
  };
}

/** Leaves the shared Redis as it was. */
export async function removeKeys(url: string, prefix: string): Promise<void> {
  const client = new Redis(url);
  try {
    const keys = await client.keys(`${prefix}*`);
    if (keys.length > 0) await client.del(...keys);
  } finally {
    client.disconnect();
  }
}
