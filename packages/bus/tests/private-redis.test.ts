import { silentLog } from '@model-gateway/kernel';
import { Redis } from 'ioredis';
import { createBus, type Bus } from '../src/index.ts';
import { eventually } from './eventually.ts';
import { createRedisServer, type RedisServer } from './redis-server.ts';
import { makeTemporaryDirectory, removeDirectory } from './temporary-directory.ts';

let server: RedisServer;
let dataDir: string;
let client: Redis;
let bus: Bus | undefined;

beforeEach(async () => {
  server = await createRedisServer();
  await server.start();
  dataDir = await makeTemporaryDirectory();
  client = new Redis(server.url);
  client.on('error', () => undefined);
});

afterEach(async () => {
  await bus?.close();
  bus = undefined;
  client.disconnect();
  await server.remove();
  await removeDirectory(dataDir);
});

async function startBus({ isRedisPrivate }: { isRedisPrivate: boolean }): Promise<Bus> {
  await bus?.close();
  const started = createBus({ redisUrl: server.url, dataDir, log: silentLog, isRedisPrivate });
  bus = started;
  await started.start();
  return started;
}

/** Delivers entries until as many as asked for were recorded, and returns their ids. */
async function record({ journal }: Bus, count: number): Promise<readonly string[]> {
  const ids: string[] = [];
  const stop = new AbortController();
  await journal.drain(
    async (batch) => {
      ids.push(...batch.map(({ id }) => id));
      if (ids.length >= count) stop.abort();
    },
    { batchSize: 10, signal: stop.signal },
  );
  return ids;
}

const entry = (id: string) => ({ id, body: JSON.stringify({ id }) });

test('usage is kept in the files of a process that has Redis for itself', async () => {
  const { journal } = await startBus({ isRedisPrivate: true });
  await journal.append(entry('first'));
  expect(await client.xlen('service:journal')).toBe(0);
  expect(await journal.lag()).toBe(1);
  const again = await startBus({ isRedisPrivate: true });
  await again.journal.append(entry('second'));
  expect(await record(again, 2)).toEqual(['first', 'second']);
  expect(await again.journal.lag()).toBe(0);
});

test('usage of an outage of a private Redis is recorded during it and after it', async () => {
  const alone = await startBus({ isRedisPrivate: true });
  await alone.journal.append(entry('before'));
  await server.kill();
  await eventually('the outage is noticed', () => alone.mode() === 'local');
  await alone.journal.append(entry('during'));
  expect(await record(alone, 2)).toEqual(['before', 'during']);
  await alone.journal.append(entry('later'));
  await server.start();
  await eventually('Redis is back', () => alone.mode() === 'redis');
  await alone.journal.append(entry('after'));
  expect(await record(alone, 2)).toEqual(['later', 'after']);
});

test('a process with a shared Redis takes over the files of one that had it for itself', async () => {
  const alone = await startBus({ isRedisPrivate: true });
  await alone.journal.append(entry('kept in the file'));
  const shared = await startBus({ isRedisPrivate: false });
  expect(await record(shared, 1)).toEqual(['kept in the file']);
});
