import { manualClock, silentLog, type ManualClock } from '@model-gateway/kernel';
import type { AdmissionAnswer } from '@model-gateway/billing';
import { Redis } from 'ioredis';
import { createBus, type Bus } from '../src/index.ts';
import { eventually } from './eventually.ts';
import { createRedisServer, type RedisServer } from './redis-server.ts';
import { makeTemporaryDirectory, removeDirectory } from './temporary-directory.ts';

const PREFIX = 'admission-outage:';
const LIMITS = [{ name: 'key:a', requestsPerMinute: 3 }];
const WINDOW = { userId: 'user', month: new Date().toISOString().slice(0, 7) };
const ACCOUNT = { type: 'group', id: 'pool' } as const;
const USAGE = { costUsd: 0.5, tokens: 10, version: 1 };
const STATE = { balance: 5, hasHistory: true, increases: 0, version: 1 };
const FACTS = { windows: [{ ...WINDOW, ...USAGE }], accounts: [{ ...ACCOUNT, ...STATE }] };
const DAY_MS = 24 * 60 * 60 * 1000;

let server: RedisServer;
let dataDir = '';
let clock: ManualClock;
let bus: Bus;
let peer: Bus;

async function startBus(): Promise<Bus> {
  const started = createBus({
    redisUrl: server.url,
    prefix: PREFIX,
    dataDir,
    log: silentLog,
    clock,
  });
  await started.start();
  return started;
}

beforeEach(async () => {
  server = await createRedisServer();
  dataDir = await makeTemporaryDirectory();
  clock = manualClock(Date.now());
  await server.start();
  [bus, peer] = [await startBus(), await startBus()];
});
afterEach(async () => {
  await Promise.all([bus.close(), peer.close()]);
  await removeDirectory(dataDir);
  await server.remove();
});

const ask = ({ admission }: Bus): Promise<AdmissionAnswer> =>
  admission.admit({ knownEpoch: 0, limits: LIMITS, window: WINDOW, account: ACCOUNT });

const modeIs = (of: Bus, mode: 'redis' | 'local'): Promise<void> =>
  eventually(`the bus is in mode ${mode}`, () => of.mode() === mode);

test('two processes share one limit and the facts of one of them', async () => {
  await bus.admission.updateHints(FACTS);
  expect(await ask(peer)).toMatchObject({ outcome: 'admitted', window: USAGE, account: STATE });
  const rest = await Promise.all([ask(bus), ask(peer), ask(bus), ask(peer)]);
  expect(rest.filter(({ outcome }) => outcome === 'admitted')).toHaveLength(2);
});

test('while Redis is unavailable each process has its own limits and facts for 5 seconds', async () => {
  await bus.admission.updateHints(FACTS);
  for (let count = 0; count < 3; count += 1) await ask(bus);
  await server.kill();
  await modeIs(bus, 'local');

  const unknown = { outcome: 'admitted', window: undefined, account: undefined };
  expect(await ask(bus)).toMatchObject(unknown);
  await bus.admission.updateHints({ ...FACTS, accounts: [{ ...ACCOUNT, ...STATE, balance: 3 }] });
  clock.advance(4_999);
  expect(await ask(bus)).toMatchObject({ window: USAGE, account: { balance: 3 } });
  clock.advance(1);
  expect(await ask(bus)).toMatchObject(unknown);
  expect(await ask(bus)).toMatchObject({ outcome: 'limited' });

  await server.start();
  await modeIs(bus, 'redis');
  // What Redis kept holds again: three were admitted there.
  expect(await ask(bus)).toMatchObject({ outcome: 'limited' });
  const answer = await bus.admission.admit({ knownEpoch: 0, limits: [], account: ACCOUNT });
  expect(answer).toMatchObject({ account: STATE });
});

test('what calls have used while Redis is unavailable counts for 15 minutes, or until it is settled', async () => {
  await server.kill();
  await modeIs(bus, 'local');
  const { admission } = bus;
  const tier = { monthlyUsdQuota: null, monthlyTokenQuota: 100 };
  const use = async (id: string): Promise<AdmissionAnswer> => {
    const reservation = {
      tokens: 9,
      costUsd: 0,
      points: 0,
      tier,
      account: ACCOUNT,
      isPriced: true,
    };
    const call = { id, userId: 'user', callsMax: 9, reservation };
    const answer = await admission.admit({ knownEpoch: 0, limits: [], window: WINDOW, call });
    const ended = { endsCall: true, endsReservation: true };
    admission.endCall({
      id,
      userId: 'user',
      ...ended,
      usage: { tokens: 3, costUsd: 0, points: 0 },
    });
    return answer;
  };
  await use('first');
  await use('second');
  clock.advance(14 * 60_000);
  expect(await use('third')).toMatchObject({ reserved: { tokens: 6 }, unsettled: { tokens: 6 } });
  const settled = [{ id: 'first', userId: 'user' }];
  await admission.updateHints({ windows: [], accounts: [], settled });
  expect(await use('fourth')).toMatchObject({ reserved: { tokens: 6 } });
  clock.advance(60_000);
  expect(await use('fifth')).toMatchObject({ reserved: { tokens: 6 } });

  // The recorder settles it a while after Redis is back, which this process does not learn.
  for (const { readyMs, tokens } of [
    { readyMs: 59_999, tokens: 9 },
    { readyMs: 60_000, tokens: 0 },
  ]) {
    await server.start();
    await modeIs(bus, 'redis');
    clock.advance(readyMs);
    // The mode changes with the first of two connections that is lost, perhaps before that of admission.
    const isReplaced = new Promise<void>((resolve) => admission.onReplaced?.(resolve));
    await server.kill();
    await isReplaced;
    expect(await use(`after-${readyMs}`)).toMatchObject({ reserved: { tokens } });
  }
});

test('everything on Redis expires by itself', async () => {
  await bus.admission.updateHints(FACTS);
  await ask(bus);
  const client = new Redis(server.url);
  try {
    const expiry = async (pattern: string): Promise<number> => {
      const keys = await client.keys(`${PREFIX}${pattern}`);
      expect(keys).toHaveLength(1);
      return client.pttl(keys[0] ?? '');
    };
    const minutes = (await expiry('admitted:*')) / 60_000;
    expect(minutes).toBeGreaterThan(1);
    expect(minutes).toBeLessThanOrEqual(2);
    expect(await expiry('fact:account:*')).toBeGreaterThan(2 * DAY_MS);
    const now = new Date();
    const nextMonth = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1);
    const windowDays = (await expiry('fact:window:*')) - (nextMonth - now.getTime());
    expect(Math.abs(windowDays - 2 * DAY_MS)).toBeLessThan(60_000);
    // The window of a month that is long over is not taken in.
    await bus.admission.updateHints({
      windows: [{ ...WINDOW, month: '2020-01', ...USAGE }],
      accounts: [],
    });
    expect(await client.keys(`${PREFIX}fact:window:2020*`)).toEqual([]);
  } finally {
    client.disconnect();
  }
});
