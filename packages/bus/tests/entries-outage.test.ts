import { setImmediate as nextTurn } from 'node:timers/promises';
import { silentLog } from '@model-gateway/kernel';
import { Redis } from 'ioredis';
import { createBus, type Bus } from '../src/index.ts';
import { eventually } from './eventually.ts';
import { createRedisServer, type RedisServer } from './redis-server.ts';
import { makeTemporaryDirectory, removeDirectory } from './temporary-directory.ts';

/** Longer than a busy machine takes for a test. */
const LONG = { expiresAfterMs: 600_000 };
const PREFIX = 'entries-outage:';

const unhandled: unknown[] = [];
const onUnhandled = (error: unknown): void => void unhandled.push(error);

let server: RedisServer;
let dataDir = '';
let buses: Bus[] = [];

beforeEach(async () => {
  process.on('unhandledRejection', onUnhandled);
  server = await createRedisServer();
  dataDir = await makeTemporaryDirectory();
  await server.start();
});

afterEach(async () => {
  await Promise.all(buses.map((bus) => bus.close()));
  await removeDirectory(dataDir);
  await server.remove();
  process.off('unhandledRejection', onUnhandled);
  if (unhandled.length > 0) throw new AggregateError(unhandled, 'unhandled rejections');
  buses = [];
});

async function startBus(): Promise<Bus> {
  const bus = createBus({ redisUrl: server.url, prefix: PREFIX, dataDir, log: silentLog });
  buses.push(bus);
  await bus.start();
  return bus;
}

const modeIs = (bus: Bus, mode: 'redis' | 'local'): Promise<void> =>
  eventually(`the bus is in mode ${mode}`, () => bus.mode() === mode);

/** Uses the Redis server past the bus. */
async function directly<Answer>(use: (client: Redis) => Promise<Answer>): Promise<Answer> {
  const client = new Redis(server.url);
  try {
    return await use(client);
  } finally {
    client.disconnect();
  }
}

test('entries continue in the process while Redis is unavailable and are shared again afterwards', async () => {
  const [bus, peer] = [await startBus(), await startBus()];
  await bus.entries.put('written', 'by bus', LONG);
  await peer.entries.put('read', 'by peer', LONG);
  await peer.entries.put('not read', 'by peer', LONG);
  await peer.entries.putIfAbsent('claimed', 'by peer', LONG);
  await peer.entries.put('gone soon', 'by peer', LONG);
  await bus.entries.put('gone', 'by bus', LONG);
  await bus.entries.put('moved', 'by bus', LONG);
  expect(await bus.entries.get('read')).toBe('by peer');
  expect(await bus.entries.putIfAbsent('claimed', 'by bus', LONG)).toBe('by peer');

  await server.kill();
  await Promise.all([modeIs(bus, 'local'), modeIs(peer, 'local')]);
  const values = async (of: Bus, keys: readonly string[]): Promise<unknown> =>
    Promise.all(keys.map((key) => of.entries.get(key)));
  expect(await values(bus, ['written', 'read', 'claimed', 'not read'])).toEqual([
    'by bus',
    'by peer',
    'by peer',
    undefined,
  ]);
  expect(await bus.entries.putIfAbsent('claimed', 'by bus', LONG)).toBe('by peer');
  expect(await bus.entries.putIfAbsent('new', 'by bus', LONG)).toBe('by bus');
  expect(await bus.entries.putIfAbsent('new', 'late', LONG)).toBe('by bus');
  expect(await bus.entries.putIfAbsent('not read', 'by bus', LONG)).toBe('by bus');
  await bus.entries.put('moved', 'on the way', LONG);
  await bus.entries.put('moved', 'by bus, moved', LONG);
  await bus.entries.put('expired', 'by bus', { expiresAfterMs: 1 });
  await bus.entries.remove('gone soon');
  expect(await bus.entries.removeIf('gone', 'another')).toBe(false);
  expect(await bus.entries.removeIf('gone', 'by bus')).toBe(true);
  expect(await values(bus, ['gone soon', 'gone', 'moved'])).toEqual([
    undefined,
    undefined,
    'by bus, moved',
  ]);
  await eventually('it expired', async () => (await bus.entries.get('expired')) === undefined);

  await server.start();
  await Promise.all([modeIs(bus, 'redis'), modeIs(peer, 'redis')]);
  await eventually('what was put alone is shared', async () => {
    return (await peer.entries.get('new')) === 'by bus';
  });
  await eventually('what was removed is gone', async () => {
    return (await peer.entries.get('gone')) === undefined;
  });
  expect(await values(peer, ['moved', 'not read', 'gone soon', 'expired', 'written'])).toEqual([
    'by bus, moved',
    'by peer',
    undefined,
    undefined,
    'by bus',
  ]);
  expect(await bus.entries.get('not read')).toBe('by peer');
  const lifetime = await directly((client) => client.pttl(`${PREFIX}entry:new`));
  expect(lifetime).toBeGreaterThan(0);
  expect(lifetime).toBeLessThanOrEqual(LONG.expiresAfterMs);
});

test('a process always reads what it wrote, also at the moment when Redis goes or comes', async () => {
  const bus = await startBus();
  let [index, writesAlone] = [0, 0];
  async function writeUntil(condition: () => boolean): Promise<void> {
    while (!condition()) {
      index += 1;
      if (bus.mode() === 'local') writesAlone += 1;
      await bus.entries.put('slides', String(index), LONG);
      expect(await bus.entries.get('slides')).toBe(String(index));
      await nextTurn();
    }
  }
  await writeUntil(() => index > 50);
  const killed = server.kill();
  await writeUntil(() => writesAlone > 50);
  await killed;
  const started = server.start();
  await writeUntil(() => bus.mode() === 'redis');
  await started;
  const indexAtReturn = index;
  await writeUntil(() => index > indexAtReturn + 50);
  expect(await directly((client) => client.get(`${PREFIX}entry:slides`))).toBe(String(index));
});

test('many entries put alone are all handed over', async () => {
  const [bus, peer] = [await startBus(), await startBus()];
  await server.kill();
  await modeIs(bus, 'local');
  const keys = Array.from({ length: 5_000 }, (_, index) => `entry ${index}`);
  await Promise.all(keys.map((key) => bus.entries.put(key, key, LONG)));
  await server.start();
  await Promise.all([modeIs(bus, 'redis'), modeIs(peer, 'redis')]);
  await eventually('all are there', async () => {
    return (await directly((client) => client.dbsize())) === keys.length;
  });
  // A few at a time: all at once could take a busy machine longer than a command may take.
  for (let from = 0; from < keys.length; from += 200) {
    const some = keys.slice(from, from + 200);
    expect(await Promise.all(some.map((key) => peer.entries.get(key)))).toEqual(some);
  }
});

test('an entry that a full Redis refuses is served by the process and handed over with its next use', async () => {
  const bus = await startBus();
  await bus.entries.put('owner', 'a', LONG);
  await directly((client) => client.config('SET', 'maxmemory', '1'));
  await bus.entries.put('owner', 'b', LONG);
  expect(bus.mode()).toBe('redis');
  expect(await bus.entries.get('owner')).toBe('b');
  await directly((client) => client.config('SET', 'maxmemory', '0'));
  expect(await bus.entries.get('owner')).toBe('b');
  expect(await directly((client) => client.get(`${PREFIX}entry:owner`))).toBe('b');
});

test('a Redis that hangs holds no entry up, and its late answers change nothing', async () => {
  const bus = await startBus();
  await bus.entries.put('owner', 'a', LONG);
  server.freeze();
  await Promise.all([bus.entries.put('owner', 'b', LONG), bus.entries.get('another')]);
  await bus.entries.put('owner', 'c', LONG);
  expect(await bus.entries.get('owner')).toBe('c');
  server.thaw();
  await modeIs(bus, 'redis');
  expect(await bus.entries.get('owner')).toBe('c');
  expect(await directly((client) => client.get(`${PREFIX}entry:owner`))).toBe('c');
});
