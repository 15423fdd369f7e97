import { ACCOUNT_EPOCH_KEY } from '@model-gateway/accounts';
import { silentLog, StartupError, type JournalEntry } from '@model-gateway/kernel';
import { Redis } from 'ioredis';
import { createBus, type Bus } from '../src/index.ts';
import { createRedisConnection } from '../src/redis/redis-connection.ts';
import { eventually } from './eventually.ts';
import { createRedisServer, type RedisServer } from './redis-server.ts';
import { makeTemporaryDirectory, removeDirectory } from './temporary-directory.ts';

const unhandled: unknown[] = [];
const onUnhandled = (error: unknown): void => void unhandled.push(error);

let server: RedisServer;
let buses: Bus[] = [];
let directories: string[] = [];

beforeEach(async () => {
  process.on('unhandledRejection', onUnhandled);
  server = await createRedisServer();
  await server.start();
});

afterEach(async () => {
  await Promise.all(buses.map((bus) => bus.close()));
  await Promise.all(directories.map(removeDirectory));
  await server.remove();
  process.off('unhandledRejection', onUnhandled);
  if (unhandled.length > 0) throw new AggregateError(unhandled, 'unhandled rejections');
  buses = [];
  directories = [];
});

async function startBus(): Promise<Bus> {
  const dataDir = await makeTemporaryDirectory();
  directories.push(dataDir);
  const options = { redisUrl: server.url, dataDir, log: silentLog, journalClaimIdleMs: 500 };
  const bus = createBus(options);
  buses.push(bus);
  await bus.start();
  return bus;
}

/** This process runs no timers and reads no sockets for a while. */
function stall(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}

const modeIs = (bus: Bus, mode: 'redis' | 'local'): Promise<void> =>
  eventually(`the bus is in mode ${mode}`, () => bus.mode() === mode);

test('every port works in the process while Redis is unavailable and is shared again afterwards', async () => {
  const [bus, peer] = [await startBus(), await startBus()];
  const modes: string[] = [];
  bus.onModeChange((mode) => modes.push(mode));
  const before: string[] = [];
  await bus.channels.subscribe('before', (message) => before.push(message));
  await bus.counters.add('running', 5);
  const held = await bus.locks.acquire('kept', 60_000);
  await bus.requests.serve('agent', () => Promise.resolve('answer'));

  await server.kill();
  await modeIs(bus, 'local');
  await expect(bus.ping()).rejects.toThrow();
  const during: string[] = [];
  await bus.channels.subscribe('during', (message) => during.push(message));
  expect(await bus.channels.publish('before', 'alone')).toBe(1);
  expect(await bus.channels.publish('during', 'alone')).toBe(1);
  expect(await bus.requests.call('agent', {}, { timeoutMs: 60_000 })).toBe('answer');
  await expect(bus.requests.call('nobody', {}, { timeoutMs: 60_000 })).rejects.toMatchObject({
    reason: 'unreachable',
  });
  expect(await bus.counters.add('running', -2)).toBe(-2);
  expect(await held?.extend(60_000)).toBe(false);
  expect(await held?.release()).toBe(false);
  const takenAlone = await bus.locks.acquire('taken alone', 60_000);
  expect(await takenAlone?.extend(60_000)).toBe(true);
  expect(await bus.locks.acquire('taken alone', 60_000)).toBeUndefined();

  await server.start();
  await Promise.all([modeIs(bus, 'redis'), modeIs(peer, 'redis')]);
  await bus.ping();
  expect(await peer.channels.publish('before', 'together')).toBe(1);
  expect(await peer.channels.publish('during', 'together')).toBe(1);
  await eventually('both have arrived', () => before.length === 2 && during.length === 2);
  expect([before, during]).toEqual([
    ['alone', 'together'],
    ['alone', 'together'],
  ]);
  expect(await peer.requests.call('agent', {}, { timeoutMs: 60_000 })).toBe('answer');
  // The counts of the outage are gone, and so are its locks.
  expect(await bus.counters.read(['running'])).toEqual([5]);
  expect(await takenAlone?.extend(60_000)).toBe(false);
  expect(await peer.locks.acquire('taken alone', 60_000)).toBeDefined();
  expect(await peer.locks.acquire('kept', 60_000)).toBeUndefined();
  expect(await held?.release()).toBe(true);
  expect(await peer.locks.acquire('kept', 60_000)).toBeDefined();
  expect(modes).toEqual(['local', 'redis']);
});

test('account changes of an outage count afterwards, so that every process looks its keys up again', async () => {
  const [bus, peer] = [await startBus(), await startBus()];
  let epoch = await bus.counters.add(ACCOUNT_EPOCH_KEY, 7);
  for (const changes of [2, 1]) {
    await server.kill();
    await modeIs(bus, 'local');
    for (let change = 0; change < changes; change += 1) {
      expect(await bus.counters.add(ACCOUNT_EPOCH_KEY, 1)).toBe(change + 1);
    }
    const stale = await bus.admission.admit({ knownEpoch: 0, limits: [] });
    expect(stale).toMatchObject({ outcome: 'stale', epoch: changes });
    await server.start();
    await Promise.all([modeIs(bus, 'redis'), modeIs(peer, 'redis')]);
    await eventually('they are counted', async () => {
      return (await peer.counters.read([ACCOUNT_EPOCH_KEY]))[0] === epoch + changes;
    });
    const answer = await peer.admission.admit({ knownEpoch: epoch, limits: [] });
    epoch += changes;
    expect(answer).toMatchObject({ outcome: 'stale', epoch });
  }
});

test('what Redis took just before it died is recorded although it comes back without it', async () => {
  const bus = await startBus();
  await bus.journal.append({ id: 'taken', body: 'x' });
  const client = new Redis(server.url);
  expect(await client.del('service:journal')).toBe(1);
  client.disconnect();
  await server.kill();
  await modeIs(bus, 'local');
  await server.start();
  await modeIs(bus, 'redis');
  const stop = new AbortController();
  const recorded: string[] = [];
  await bus.journal.drain(
    async (batch) => {
      recorded.push(...batch.map(({ id }) => id));
      stop.abort();
    },
    { batchSize: 10, signal: stop.signal },
  );
  expect(recorded).toEqual(['taken']);
});

test('entries appended before, during and after an outage are all recorded', async () => {
  const [bus, peer] = [await startBus(), await startBus()];
  const recorded = new Set<string>();
  const record = (batch: readonly JournalEntry[]): Promise<void> => {
    for (const { id } of batch) recorded.add(id);
    return Promise.resolve();
  };
  const appended = new Set<string>();
  let appending = true;
  async function keepAppending(to: Bus, name: string): Promise<void> {
    for (let index = 0; appending; index += 1) {
      const id = `${name}-${index}`;
      await to.journal.append({ id, body: 'x' });
      appended.add(id);
    }
  }
  const appenders = [keepAppending(bus, 'bus'), keepAppending(peer, 'peer')];
  const stop = new AbortController();
  const drained = bus.journal.drain(record, { batchSize: 20, signal: stop.signal });

  await eventually('entries come from Redis', () => recorded.has('peer-50'));
  await server.kill();
  await modeIs(bus, 'local');
  const recordedAtOutage = recorded.size;
  await eventually('the process records alone', () => recorded.size > recordedAtOutage + 200);
  await server.start();
  await Promise.all([modeIs(bus, 'redis'), modeIs(peer, 'redis')]);
  const appendedAtReturn = appended.size;
  await eventually('more is appended', () => appended.size > appendedAtReturn + 200);
  appending = false;
  await Promise.all(appenders);
  await eventually('all is recorded', () => recorded.size >= appended.size);
  await eventually('nothing is left', async () => {
    return (await bus.journal.lag()) + (await peer.journal.lag()) === 0;
  });
  stop.abort();
  await drained;
  expect([...recorded].toSorted()).toEqual([...appended].toSorted());
});

test('no message is delivered twice or out of order across an outage', async () => {
  const bus = await startBus();
  const seen: number[] = [];
  await bus.channels.subscribe('stream', (message) => seen.push(Number(message)));
  const sentAlone: number[] = [];
  let index = 0;
  async function publishUntil(condition: () => boolean): Promise<void> {
    while (!condition()) {
      const isAlone = bus.mode() === 'local';
      const batch = Array.from({ length: 5 }, () => (index += 1));
      await Promise.all(batch.map((one) => bus.channels.publish('stream', String(one))));
      if (isAlone) sentAlone.push(...batch);
      await new Promise(setImmediate);
    }
  }
  await publishUntil(() => seen.length > 200);
  const killed = server.kill();
  await publishUntil(() => sentAlone.length > 200);
  await killed;
  const started = server.start();
  await publishUntil(() => bus.mode() === 'redis');
  await started;
  const sentAtReturn = index;
  await publishUntil(() => index > sentAtReturn + 200);
  await eventually('the last has arrived', () => seen.at(-1) === index);
  expect(seen).toEqual([...new Set(seen)].toSorted((a, b) => a - b));
  const arrived = new Set(seen);
  expect(sentAlone.filter((one) => !arrived.has(one))).toEqual([]);
});

test('a message reaches the other processes once, and its own directly', async () => {
  const [bus, peer] = [await startBus(), await startBus()];
  const heard: string[] = [];
  await bus.channels.subscribe('news', (message) => heard.push(`own ${message}`));
  await peer.channels.subscribe('news', (message) => heard.push(`other ${message}`));
  expect(await bus.channels.publish('news', 'first')).toBe(2);
  expect(heard).toContain('own first');
  expect(await peer.channels.publish('news', 'second')).toBe(2);
  await eventually('all have arrived', () => heard.length === 4);
  await bus.ping();
  expect(heard.toSorted()).toEqual(['other first', 'other second', 'own first', 'own second']);
});

test('a hanging Redis does not block, and is used again when it replies', async () => {
  const bus = await startBus();
  const seen: string[] = [];
  await bus.channels.subscribe('news', (message) => seen.push(message));
  server.freeze();
  await Promise.all([
    bus.channels.publish('news', 'in flight'),
    bus.counters.add('requests', 1),
    bus.locks.acquire('job', 60_000),
    bus.journal.append({ id: 'a', body: 'b' }),
    bus.ping().catch(() => undefined),
  ]);
  expect(bus.mode()).toBe('local');
  await bus.channels.publish('news', 'alone');
  await bus.journal.append({ id: 'c', body: 'd' });
  server.thaw();
  await modeIs(bus, 'redis');
  await bus.channels.publish('news', 'back');
  await eventually('the last has arrived', () => seen.at(-1) === 'back');
  expect(seen).toEqual(['in flight', 'alone', 'back']);
});

test('a process that gets no CPU keeps its connections and its replies', async () => {
  const connection = createRedisConnection({
    target: { url: server.url, prefix: '' },
    log: silentLog,
  });
  await connection.start();
  const changes: boolean[] = [];
  connection.onChange(() => changes.push(connection.channelsReady()));
  await connection.run((client) => client.ping());
  for (let round = 0; round < 2; round += 1) {
    const answers = Promise.all([
      connection.run((client) => client.set('key', 'value')),
      connection.run((client) => client.get('key')),
      connection.runOnSubscriber((client) => client.ping()),
    ]);
    // Longer than a command may take, once before and once after the batch of `run` is sent.
    if (round === 1) await new Promise(setImmediate);
    stall(1_500);
    expect((await answers)[0]).toBe('OK');
  }
  expect(changes).toEqual([]);

  server.freeze();
  await expect(connection.run((client) => client.get('key'))).rejects.toThrow();
  // Each of its connections may notice.
  expect(new Set(changes)).toEqual(new Set([false]));
  server.thaw();
  await eventually('Redis is used again', () => connection.channelsReady());
  await connection.close();
});

test('a hanging Redis is noticed without any call', async () => {
  const bus = await startBus();
  server.freeze();
  await modeIs(bus, 'local');
  server.thaw();
  await modeIs(bus, 'redis');
});

test('closing while Redis is unavailable does not wait for it and loses nothing', async () => {
  const bus = await startBus();
  await server.kill();
  await modeIs(bus, 'local');
  await bus.journal.append({ id: 'left', body: 'over' });
  await bus.close();
  const alone = createBus({ dataDir: directories[0] ?? '', log: silentLog });
  buses.push(alone);
  await alone.start();
  const seen: string[] = [];
  const stop = new AbortController();
  await alone.journal.drain(
    (batch) => {
      seen.push(...batch.map(({ id }) => id));
      stop.abort();
      return Promise.resolve();
    },
    { batchSize: 10, signal: stop.signal },
  );
  // Once, or twice where it was appended while the loss of Redis was only half noticed.
  expect(new Set(seen)).toEqual(new Set(['left']));
});

test.each([
  { why: 'nobody listens at the address', url: 'redis://:hunter2@127.0.0.1:1' },
  { why: 'the password is wrong', url: 'server' },
])('a start fails with one sentence and no password when $why', async ({ url }) => {
  const guarded = await createRedisServer({ password: 'right' });
  await guarded.start();
  const redisUrl = url === 'server' ? guarded.url.replace('right', 'hunter2') : url;
  const dataDir = await makeTemporaryDirectory();
  directories.push(dataDir);
  const bus = createBus({ redisUrl, dataDir, log: silentLog });
  const error: unknown = await bus.start().catch((reason: unknown) => reason);
  await guarded.remove();
  expect(error).toBeInstanceOf(StartupError);
  expect(String(error)).toMatch(
    /Redis at redis:\/\/127\.0\.0\.1:\d+ \(REDIS_URL\) cannot be used: .+/,
  );
  expect(String(error)).not.toContain('hunter2');
});
