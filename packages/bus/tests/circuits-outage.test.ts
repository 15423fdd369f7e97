import { silentLog } from '@model-gateway/kernel';
import { createBus, type Bus } from '../src/index.ts';
import { eventually } from './eventually.ts';
import { createRedisServer, type RedisServer } from './redis-server.ts';
import { makeTemporaryDirectory, removeDirectory } from './temporary-directory.ts';

const RULES = { failuresMax: 3, openMs: 60_000, trialMs: 60_000 };

let server: RedisServer;
let dataDir = '';
let bus: Bus;
let peer: Bus;

async function startBus(): Promise<Bus> {
  const options = { redisUrl: server.url, prefix: 'circuits-outage:', dataDir, log: silentLog };
  const started = createBus(options);
  await started.start();
  return started;
}

beforeEach(async () => {
  server = await createRedisServer();
  dataDir = await makeTemporaryDirectory();
  await server.start();
  [bus, peer] = [await startBus(), await startBus()];
});
afterEach(async () => {
  await Promise.all([bus.close(), peer.close()]);
  await removeDirectory(dataDir);
  await server.remove();
});

const modeIs = (of: Bus, mode: 'redis' | 'local'): Promise<void> =>
  eventually(`the bus is in mode ${mode}`, () => of.mode() === mode);

test('a circuit continues in the process while Redis is unavailable and is shared again afterwards', async () => {
  for (let failure = 0; failure < 3; failure += 1) {
    await bus.circuits.failed('opened before', RULES);
  }
  await bus.circuits.failed('opened meanwhile', RULES);
  await bus.circuits.failed('recovered meanwhile', RULES);

  await server.kill();
  await Promise.all([modeIs(bus, 'local'), modeIs(peer, 'local')]);
  expect((await bus.circuits.read('opened before')).openForMs).toBeGreaterThan(0);
  await bus.circuits.failed('opened meanwhile', RULES);
  expect((await bus.circuits.failed('opened meanwhile', RULES)).openForMs).toBeGreaterThan(0);
  expect(await bus.circuits.succeeded('recovered meanwhile')).toMatchObject({ failures: 0 });
  // A process that has not received it lets requests through.
  expect(await peer.circuits.read('opened before')).toMatchObject({ failures: 0 });

  await server.start();
  await Promise.all([modeIs(bus, 'redis'), modeIs(peer, 'redis')]);
  await eventually('the peer knows what was opened', async () => {
    return (await peer.circuits.read('opened meanwhile')).openForMs !== undefined;
  });
  await eventually('the peer knows what recovered', async () => {
    return (await peer.circuits.read('recovered meanwhile')).failures === 0;
  });
  expect((await peer.circuits.read('opened before')).openForMs).toBeGreaterThan(0);
});

test('without Redis a process applies the limits of backends to its own requests, and shares them again afterwards', async () => {
  const limits = { concurrency: 2 };
  const place = (id: string) => ({ name: 'a', id });
  const take = (of: Bus, id: string) => of.backendLimits.take(place(id), limits);
  expect([await take(bus, '1'), await take(peer, '2')]).toEqual([undefined, undefined]);
  expect(await take(bus, '3')).toBe('concurrency');

  await server.kill();
  await Promise.all([modeIs(bus, 'local'), modeIs(peer, 'local')]);
  // One of its own requests runs since before.
  expect([await take(bus, '4'), await take(bus, '5')]).toEqual([undefined, 'concurrency']);
  await peer.backendLimits.release(place('2'));

  await server.start();
  await Promise.all([modeIs(bus, 'redis'), modeIs(peer, 'redis')]);
  await eventually('the peer knows what runs elsewhere', async () => {
    return (await peer.backendLimits.reached('a', limits)) === 'concurrency';
  });
  await bus.backendLimits.release(place('4'));
  expect(await take(peer, '6')).toBeUndefined();
});
