import { silentLog } from '@model-gateway/kernel';
import { Redis } from 'ioredis';
import { createBus, type Bus } from '../src/index.ts';
import { eventually } from './eventually.ts';
import { createRedisServer, type RedisServer } from './redis-server.ts';
import { makeTemporaryDirectory, removeDirectory } from './temporary-directory.ts';

const RULES = { failuresMax: 3, openMs: 60_000, trialMs: 60_000 };
/** Longer than a busy machine takes for a test. */
const LONG = { expiresAfterMs: 600_000 };
const PREFIX = 'fallback-outage:';
const unhandled: unknown[] = [];
const onUnhandled = (error: unknown): void => void unhandled.push(error);

let server: RedisServer;
let dataDir = '';
let bus: Bus;
let peer: Bus;

async function startBus(): Promise<Bus> {
  const options = { redisUrl: server.url, prefix: PREFIX, dataDir, log: silentLog };
  const started = createBus(options);
  await started.start();
  return started;
}

beforeEach(async () => {
  process.on('unhandledRejection', onUnhandled);
  server = await createRedisServer();
  dataDir = await makeTemporaryDirectory();
  await server.start();
  [bus, peer] = [await startBus(), await startBus()];
});
afterEach(async () => {
  await Promise.all([bus.close(), peer.close()]);
  await removeDirectory(dataDir);
  await server.remove();
  process.off('unhandledRejection', onUnhandled);
  if (unhandled.length > 0) throw new AggregateError(unhandled, 'unhandled rejections');
});

const modeIs = (of: Bus, mode: 'redis' | 'local'): Promise<void> =>
  eventually(`the bus is in mode ${mode}`, () => of.mode() === mode);

async function loseRedis(): Promise<void> {
  await server.kill();
  await Promise.all([modeIs(bus, 'local'), modeIs(peer, 'local')]);
}

async function restoreRedis(): Promise<void> {
  await server.start();
  await Promise.all([modeIs(bus, 'redis'), modeIs(peer, 'redis')]);
}

/** Uses the Redis server past the bus. */
async function directly<Answer>(use: (client: Redis) => Promise<Answer>): Promise<Answer> {
  const client = new Redis(server.url);
  try {
    return await use(client);
  } finally {
    client.disconnect();
  }
}

test('without Redis a process has its own entries, and afterwards the shared ones again', async () => {
  await bus.entries.put('shared', 'by bus', LONG);
  for (const outage of ['first', 'second']) {
    await loseRedis();
    expect(await bus.entries.get('shared')).toBeUndefined();
    expect(await bus.entries.get('first')).toBeUndefined();
    expect(await bus.entries.putIfAbsent(outage, 'by bus', LONG)).toBe('by bus');
    expect(await bus.entries.putIfAbsent(outage, 'late', LONG)).toBe('by bus');
    expect(await peer.entries.get(outage)).toBeUndefined();
    await bus.entries.put('shared', 'alone', LONG);
    expect(await bus.entries.get('shared')).toBe('alone');

    await restoreRedis();
    for (const process of [bus, peer]) {
      expect(await process.entries.get('shared')).toBe('by bus');
      expect(await process.entries.get(outage)).toBeUndefined();
    }
  }
});

test('without Redis a process has the circuits of its own requests, and afterwards the shared ones again', async () => {
  for (let failure = 0; failure < 3; failure += 1) {
    await bus.circuits.failed('opened before', RULES);
  }
  await loseRedis();
  for (let failure = 0; failure < 3; failure += 1) {
    await bus.circuits.failed('opened meanwhile', RULES);
  }
  expect((await bus.circuits.read('opened meanwhile')).openForMs).toBeGreaterThan(0);
  expect(await peer.circuits.read('opened meanwhile')).toMatchObject({ failures: 0 });
  expect(await bus.circuits.read('opened before')).toMatchObject({ failures: 0 });

  await restoreRedis();
  for (const process of [bus, peer]) {
    expect((await process.circuits.read('opened before')).openForMs).toBeGreaterThan(0);
    expect(await process.circuits.read('opened meanwhile')).toMatchObject({ failures: 0 });
  }
});

test('without Redis a process applies the limits of backends to its own requests, and shares them again afterwards', async () => {
  const limits = { concurrency: 2 };
  const place = (id: string) => ({ name: 'a', id });
  const take = (of: Bus, id: string) => of.backendLimits.take(place(id), limits);
  expect([await take(bus, '1'), await take(peer, '2')]).toEqual([undefined, undefined]);
  expect(await take(bus, '3')).toBe('concurrency');

  await loseRedis();
  // Those that run since before count from their next prolongation on.
  await bus.backendLimits.keep([place('1')]);
  expect([await take(bus, '4'), await take(bus, '5')]).toEqual([undefined, 'concurrency']);
  await peer.backendLimits.release(place('2'));

  await restoreRedis();
  await bus.backendLimits.keep([place('1'), place('4')]);
  expect(await peer.backendLimits.reached('a', limits)).toBe('concurrency');
  await bus.backendLimits.release(place('4'));
  expect(await peer.backendLimits.reached('a', { concurrency: 3 })).toBeUndefined();
});

test('without Redis a process has the bytes that it stores meanwhile', async () => {
  const bytes = Buffer.from('answer');
  await loseRedis();
  expect(await bus.byteCache.put('a', bytes, LONG)).toBe(true);
  expect(await bus.byteCache.get('a')).toEqual(bytes);
  await restoreRedis();
  expect(await bus.byteCache.get('a')).toBeUndefined();
});

test('a full Redis refuses no entry: this process serves what it cannot store there', async () => {
  await directly((client) => client.config('SET', 'maxmemory', '1'));
  expect(await bus.entries.putIfAbsent('owner', 'a', LONG)).toBe('a');
  expect(await bus.entries.putIfAbsent('owner', 'b', LONG)).toBe('a');
  expect(bus.mode()).toBe('redis');
  await directly((client) => client.config('SET', 'maxmemory', '0'));
  expect(await bus.entries.putIfAbsent('owner', 'b', LONG)).toBe('b');
});

test('a Redis that hangs holds no entry up', async () => {
  await bus.entries.put('owner', 'a', LONG);
  server.freeze();
  await Promise.all([bus.entries.put('owner', 'b', LONG), bus.entries.get('another')]);
  await bus.entries.put('owner', 'c', LONG);
  expect(await bus.entries.get('owner')).toBe('c');
  server.thaw();
  await modeIs(bus, 'redis');
  await bus.entries.put('owner', 'd', LONG);
  expect(await peer.entries.get('owner')).toBe('d');
});
