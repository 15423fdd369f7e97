import { appendFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { silentLog as log } from '@model-gateway/kernel';
import { Redis } from 'ioredis';
import { findRedisServer, startRedis } from '../src/index.ts';
import { newDataDir, runs, until } from './stores.ts';

let dataDir: Awaited<ReturnType<typeof newDataDir>>;
let binary: string;

beforeAll(async () => {
  const found = await findRedisServer('/usr/local/bin:/usr/bin:/opt/homebrew/bin');
  if (found === undefined) throw new Error('these tests need a redis-server');
  binary = found;
});

beforeEach(async () => {
  dataDir = await newDataDir();
});

afterEach(() => dataDir.remove());

async function on<Result>(url: string, work: (redis: Redis) => Promise<Result>): Promise<Result> {
  const redis = new Redis(url, { maxRetriesPerRequest: 1 });
  redis.on('error', () => undefined);
  try {
    return await work(redis);
  } finally {
    redis.disconnect();
  }
}

test('data survives a stop and a start, on the same port', async () => {
  const first = await startRedis({ dataDir: dataDir.path, binary, log });
  await on(first.url, (redis) => redis.set('kept', '42'));
  await first.stop();
  expect(runs(first.pid)).toBe(false);

  const second = await startRedis({ dataDir: dataDir.path, binary, log });
  expect(second.url).toBe(first.url);
  expect(await on(second.url, (redis) => redis.get('kept'))).toBe('42');
  await second.stop();
});

test('a killed server restarts with its address', async () => {
  const store = await startRedis({ dataDir: dataDir.path, binary, log });
  const killed = store.pid;
  process.kill(killed, 'SIGKILL');
  await until(() => store.pid !== killed);
  expect(await on(store.url, (redis) => redis.ping())).toBe('PONG');
  await store.stop();
});

test('an incomplete append-only file is read up to its last complete entry', async () => {
  const first = await startRedis({ dataDir: dataDir.path, binary, log });
  await on(first.url, (redis) => redis.set('kept', '42'));
  await first.stop();
  const folder = join(dataDir.path, 'redis', 'appendonlydir');
  const file = (await readdir(folder)).find((name) => name.endsWith('.incr.aof'));
  await appendFile(join(folder, file ?? ''), '*3\r\n$3\r\nSET\r\n$4\r\nto');

  const second = await startRedis({ dataDir: dataDir.path, binary, log });
  expect(await on(second.url, (redis) => redis.get('kept'))).toBe('42');
  await second.stop();
});

test('a second instance on the same data directory fails', async () => {
  const store = await startRedis({ dataDir: dataDir.path, binary, log });
  await expect(startRedis({ dataDir: dataDir.path, binary, log })).rejects.toThrow(
    `is in use by process ${process.pid}`,
  );
  await store.stop();
});

test('connections without the password are rejected', async () => {
  const store = await startRedis({ dataDir: dataDir.path, binary, log });
  const { host } = new URL(store.url);
  await on(`redis://${host}`, async (redis) => {
    await expect(redis.ping()).rejects.toThrow('NOAUTH');
  });
  await store.stop();
});

test('a search path without a Redis finds none', async () => {
  expect(await findRedisServer(`${dataDir.path}:/nowhere`)).toBeUndefined();
  expect(await findRedisServer(undefined)).toBeUndefined();
});
