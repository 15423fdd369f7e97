import { silentLog, type JournalEntry } from '@model-gateway/kernel';
import { Redis } from 'ioredis';
import { createBus, type Bus } from '../src/index.ts';
import { startChild } from './child-process.ts';
import { eventually } from './eventually.ts';
import { newPrefix, removeKeys, sharedRedisUrl } from './subjects.ts';
import { makeTemporaryDirectory, removeDirectory } from './temporary-directory.ts';

/** After this time without a sign of life from a recorder its entries go to another. */
const CLAIM_IDLE_MS = 2_000;

let dataDir = '';
let prefix = '';
let buses: Bus[] = [];

beforeEach(async () => {
  dataDir = await makeTemporaryDirectory();
  prefix = newPrefix();
  buses = [];
});

afterEach(async () => {
  await Promise.all(buses.map((bus) => bus.close()));
  await removeKeys(sharedRedisUrl(), prefix);
  await removeDirectory(dataDir);
});

interface StartOptions {
  readonly redisUrl?: string;
  readonly journalClaimIdleMs?: number;
}

async function startBus(options: StartOptions = {}): Promise<Bus> {
  const bus = createBus({ ...options, dataDir, prefix, log: silentLog });
  buses.push(bus);
  await bus.start();
  return bus;
}

const startRedisBus = (options: StartOptions = {}): Promise<Bus> =>
  startBus({ redisUrl: sharedRedisUrl(), ...options });

/** Records until as many different entries have come as are expected. */
async function drainUntil(bus: Bus, count: number): Promise<readonly string[]> {
  const seen = new Set<string>();
  const stop = new AbortController();
  const record = (batch: readonly JournalEntry[]): Promise<void> => {
    for (const { id } of batch) seen.add(id);
    return Promise.resolve();
  };
  const drained = bus.journal.drain(record, { batchSize: 50, signal: stop.signal });
  await eventually('all entries have come', () => seen.size >= count);
  await eventually('nothing is left', async () => (await bus.journal.lag()) === 0);
  stop.abort();
  await drained;
  return [...seen];
}

test('a message reaches the listeners of another process', async () => {
  const [here, there] = [await startRedisBus(), await startRedisBus()];
  const seen: string[] = [];
  await there.channels.subscribe('notify:1', (message) => seen.push(message));
  expect(await here.channels.publish('notify:1', 'hello')).toBe(1);
  await eventually('it has arrived', () => seen.length === 1);
});

test('a channel is one subscription in Redis and ends with its last listener', async () => {
  const bus = await startRedisBus();
  const client = new Redis(sharedRedisUrl());
  const subscribers = async (): Promise<unknown> =>
    (await client.pubsub('NUMSUB', `${prefix}shared`))[1];
  const first = await bus.channels.subscribe('shared', () => undefined);
  const second = await bus.channels.subscribe('shared', () => undefined);
  expect(await subscribers()).toBe(1);
  await first.close();
  expect(await subscribers()).toBe(1);
  await second.close();
  await eventually('Redis has forgotten it', async () => (await subscribers()) === 0);
  client.disconnect();
});

test('a call is answered by another process', async () => {
  const [here, there] = [await startRedisBus(), await startRedisBus()];
  const served = await there.requests.serve('agent:1', (payload) => Promise.resolve([payload]));
  expect(await here.requests.call('agent:1', 7, { timeoutMs: 60_000 })).toEqual([7]);
  await served.close();
  await expect(here.requests.call('agent:1', 7, { timeoutMs: 60_000 })).rejects.toMatchObject({
    reason: 'unreachable',
  });
});

test('closing gives up the calls that are waiting', async () => {
  const [here, there] = [await startRedisBus(), await startRedisBus()];
  let called = false;
  await there.requests.serve('agent:1', () => {
    called = true;
    return new Promise(() => undefined);
  });
  const call = here.requests.call('agent:1', 7, { timeoutMs: 60_000 });
  const outcome = call.catch((error: unknown) => error);
  await eventually('the call has arrived', () => called);
  await here.close();
  expect(await outcome).toMatchObject({ reason: 'unreachable' });
});

test('a lock has one holder among all processes', async () => {
  const [here, there] = [await startRedisBus(), await startRedisBus()];
  const held = await here.locks.acquire('prober', 60_000);
  expect(held).toBeDefined();
  expect(await there.locks.acquire('prober', 60_000)).toBeUndefined();
  expect(await held?.release()).toBe(true);
  expect(await there.locks.acquire('prober', 60_000)).toBeDefined();
});

test('counters are shared by all processes', async () => {
  const [here, there] = [await startRedisBus(), await startRedisBus()];
  await here.counters.add('requests', 2);
  expect(await there.counters.add('requests', 3)).toBe(5);
  expect(await here.counters.read(['requests'])).toEqual([5]);
});

test('an entry is put by one of many processes and read by all', async () => {
  const [here, there] = [await startRedisBus(), await startRedisBus()];
  const minute = { expiresAfterMs: 60_000 };
  const claims = ['a', 'b', 'c', 'd'].flatMap((value) => [
    here.entries.putIfAbsent('session', `here ${value}`, minute),
    there.entries.putIfAbsent('session', `there ${value}`, minute),
  ]);
  const [owner = '', ...others] = new Set(await Promise.all(claims));
  expect(others).toEqual([]);
  expect(await there.entries.get('session')).toBe(owner);
  await here.entries.put('session', 'moved', minute);
  expect(await there.entries.removeIf('session', owner)).toBe(false);
  expect(await there.entries.removeIf('session', 'moved')).toBe(true);
  expect(await here.entries.get('session')).toBeUndefined();
});

test('entries that a recorder took before it was killed are recorded by another', async () => {
  const bus = await startRedisBus({ journalClaimIdleMs: CLAIM_IDLE_MS });
  const ids = Array.from({ length: 25 }, (_, index) => `entry-${index}`);
  for (const id of ids) await bus.journal.append({ id, body: 'x' });
  const child = startChild('take and hang', { redisUrl: sharedRedisUrl(), dataDir, prefix });
  expect(await child.nextLine()).toBe('took 10');
  await child.kill();
  expect((await drainUntil(bus, 25)).toSorted()).toEqual(ids.toSorted());
});

test('a recorder that works on a batch for longer than that keeps it', async () => {
  const options = { journalClaimIdleMs: CLAIM_IDLE_MS };
  const [slow, other] = [await startRedisBus(options), await startRedisBus(options)];
  const stop = new AbortController();
  const draining = { batchSize: 50, signal: stop.signal };
  const byOther: string[] = [];
  const bySlow: string[] = [];
  let finish = (): void => undefined;
  const working = new Promise<void>((resolve) => {
    finish = resolve;
  });
  await slow.journal.append({ id: 'long', body: 'x' });
  const drained = [
    slow.journal.drain(async (batch) => {
      bySlow.push(...batch.map(({ id }) => id));
      await working;
    }, draining),
  ];
  await eventually('the slow one has it', () => bySlow.length === 1);
  const takenAt = performance.now();
  drained.push(
    other.journal.drain(async (batch) => {
      byOther.push(...batch.map(({ id }) => id));
      await Promise.resolve();
    }, draining),
  );
  await eventually('it works for long', () => performance.now() - takenAt > 3 * CLAIM_IDLE_MS);
  await other.journal.append({ id: 'next', body: 'x' });
  await eventually('the other one works', () => byOther.length > 0);
  finish();
  await eventually('nothing is left', async () => (await slow.journal.lag()) === 0);
  stop.abort();
  await Promise.all(drained);
  expect([bySlow, byOther]).toEqual([['long'], ['next']]);
});

test('what a killed process left in its journal file is recorded by the next one', async () => {
  const child = startChild('append and wait', { dataDir, prefix });
  expect(await child.nextLine()).toBe('appended');
  await child.kill();
  const bus = await startBus();
  expect(await drainUntil(bus, 300)).toHaveLength(300);
});

test('what a killed process left in its journal file is moved to Redis by the next one', async () => {
  const child = startChild('append and wait', { dataDir, prefix });
  expect(await child.nextLine()).toBe('appended');
  await child.kill();
  await startRedisBus();
  const elsewhere = await makeTemporaryDirectory();
  const recorder = createBus({
    redisUrl: sharedRedisUrl(),
    dataDir: elsewhere,
    prefix,
    log: silentLog,
  });
  buses.push(recorder);
  await recorder.start();
  expect(await drainUntil(recorder, 300)).toHaveLength(300);
  await removeDirectory(elsewhere);
});

test.each(['Redis', 'no Redis'])('a closed bus leaves nothing running, with %s', async (store) => {
  const redis = store === 'Redis' ? { redisUrl: sharedRedisUrl() } : {};
  const child = startChild('use and close', { ...redis, dataDir, prefix });
  expect(await child.nextLine()).toBe('closed');
  expect(await child.exited()).toBe(0);
});
