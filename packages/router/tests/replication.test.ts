import { manualClock, systemClock, type ManualClock } from '@model-gateway/kernel';
import type { Router } from '../src/index.ts';
import {
  configOf,
  createReplicas,
  REGISTERED_AT,
  serving,
  settled,
  storeOf,
  until,
  type Replicas,
} from './replicas.ts';

let clock: ManualClock;
let replicas: Replicas;
let left: Router;
let right: Router;

beforeEach(async () => {
  clock = manualClock(1_000_000);
  replicas = createReplicas(clock);
  [left, right] = [await replicas.start(), await replicas.start()];
});
afterEach(() => replicas.stop());

const names = (router: Router): readonly string[] =>
  router.list().map(({ backend }) => backend.name);

async function registerAll(...all: readonly string[]): Promise<void> {
  for (const name of all) await left.registry.register(replicas.upstream(name));
  await settled();
}

test('a backend that is registered, replaced or removed on one replica is so on the other', async () => {
  await registerAll('a', 'b', 'c');
  expect(names(right)).toEqual(['a', 'b', 'c']);
  expect(right.list()).toMatchObject([{ state: 'Healthy' }, {}, {}]);

  replicas.upstream('b', { probe: serving('new') });
  const replaced = configOf('b', { url: 'http://elsewhere.example.com' });
  expect(await left.registry.register(replaced)).toMatchObject({ index: 1 });
  await settled();
  expect(names(right)).toEqual(['a', 'b', 'c']);
  expect(right.list()[1]).toMatchObject({ state: 'Healthy', models: ['new'] });

  expect(await right.registry.removeAt(0)).toBe('a');
  expect(await right.registry.removeAt(7)).toBeUndefined();
  expect(await right.registry.remove('a')).toBe(false);
  await settled();
  expect([names(left), names(right)]).toEqual([
    ['b', 'c'],
    ['b', 'c'],
  ]);
  expect(await left.registry.register(replicas.upstream('d'))).toMatchObject({ index: 2 });
});

test('a model is not refused before a change under way is known', async () => {
  const held: (() => void)[] = [];
  let isHeld = false;
  const store = storeOf(replicas);
  const slow = await replicas.start({
    store: {
      ...store,
      async list() {
        if (isHeld) await new Promise<void>((resolve) => held.push(resolve));
        return store.list();
      },
    },
  });
  isHeld = true;
  await registerAll('a');
  const chosen = slow.choose('m');
  await until(() => held.length > 0);
  expect(names(slow)).toEqual([]);
  isHeld = false;
  for (const answer of held) answer();
  expect((await chosen).backend.name).toBe('a');
  await expect(slow.choose('other')).rejects.toThrow('No backend available for model: other');
});

test('a backend is fail-closed until its first probe', async () => {
  const answers: (() => void)[] = [];
  const config = replicas.upstream('a', {
    probe: () =>
      new Promise((resolve) => {
        answers.push(() => resolve({ state: 'Healthy', models: ['m'] }));
      }),
  });
  const registering = left.registry.register(config);
  await settled();
  expect(left.list()).toMatchObject([{ state: 'Unhealthy', reason: 'not probed yet' }]);
  await expect(left.choose('m')).rejects.toThrow('No backend available for model: m');
  for (const answer of answers) answer();
  await registering;
  expect(left.list()).toMatchObject([{ state: 'Healthy', reason: undefined }]);
});

test('a probe that does not end is given up', async () => {
  await left.registry.register(replicas.upstream('a', { probe: () => new Promise(() => {}) }));
  expect(left.list()).toMatchObject([{ state: 'Unhealthy', reason: 'no answer within 100 ms' }]);
});

test('a registration tells the result of its first probe and when it was', async () => {
  const config = replicas.upstream('a', {
    probe: () => Promise.resolve({ state: 'Degraded', models: [], reason: 'a wrong key' }),
  });
  const health = { state: 'Degraded', reason: 'a wrong key', checkedAt: clock.now() };
  expect(await left.registry.register(config)).toMatchObject({ index: 0, report: health });
  await settled();
  expect([left.list(), right.list()]).toMatchObject([[health], [health]]);
});

test('a registration does not wait longer for a probe than its limit', async () => {
  const rules = {
    healthIntervalMs: 60_000,
    probeTimeoutMs: 60_000,
    breakerFailures: 3,
    breakerOpenMs: 30_000,
    firstProbeWaitMs: 20,
  };
  const router = await replicas.start({ rules });
  const answers: (() => void)[] = [];
  const config = replicas.upstream('a', {
    probe: () => new Promise((_resolve, reject) => answers.push(() => reject(new Error('away')))),
  });
  expect(await router.registry.register(config)).toMatchObject({
    report: { state: 'Unhealthy', reason: 'not probed yet', checkedAt: undefined },
  });
  for (const answer of answers) answer();
  await until(() => router.list()[0]?.reason === 'away');
});

test('a restored backend gets no requests before it is probed, whatever was reported before', async () => {
  await registerAll('a');
  const upstream = replicas.upstreams.get('a');
  if (upstream === undefined) throw new Error('no upstream');
  upstream.probe = () => Promise.reject(new Error('connection refused'));
  const started = await replicas.start();
  expect(started.list()).toMatchObject([{ state: 'Unhealthy', reason: 'connection refused' }]);
  await expect(started.choose('m')).rejects.toThrow('all backends unhealthy');
});

test.each([
  { when: 'before the start', isSince: false, ownProbes: 1 },
  { when: 'since the start', isSince: true, ownProbes: 0 },
])('a backend that appears later with a report $when', async ({ isSince, ownProbes }) => {
  await registerAll('a');
  const kept = replicas.kept.splice(0);
  clock.advance(1);
  const started = await replicas.start();
  if (isSince) await left.probe('a');
  expect(started.list()).toEqual([]);
  const probes = replicas.upstreams.get('a')?.probes ?? 0;
  replicas.kept.push(...kept);
  await started.refresh();
  await until(() => started.list()[0]?.state === 'Healthy');
  expect(replicas.upstreams.get('a')?.probes).toBe(probes + ownProbes);
});

test('what a backend can do is known where it was not probed', async () => {
  let isProbed = false;
  const config = replicas.upstream('a', {
    probe: () => {
      isProbed = true;
      return serving('m')();
    },
  });
  await left.registry.register(config);
  await settled();
  const upstream = replicas.upstreams.get('a');
  if (upstream !== undefined) upstream.capabilities = [];
  expect(isProbed).toBe(true);
  expect(await right.choose('m', { capability: 'chat' })).toMatchObject({ model: 'm' });
});

test('backends work without the database, and are stored afterwards', async () => {
  await registerAll('a', 'b');
  replicas.storeIsAway = true;
  await left.registry.register(replicas.upstream('c'));
  await left.registry.remove('a');
  await left.refresh();
  expect(names(left)).toEqual(['b', 'c']);
  await left.choose('m', { provider: 'c' });
  replicas.storeIsAway = false;
  await left.refresh();
  await settled();
  expect([names(left), names(right)]).toEqual([
    ['b', 'c'],
    ['b', 'c'],
  ]);
});

test('a registration that cannot be used does not disable the others', async () => {
  replicas.kept.push(configOf('broken'), replicas.upstream('a'));
  await left.refresh();
  expect(names(left)).toEqual(['a']);
});

test('an unlisted backend serves but appears in no listing and has no index', async () => {
  const router = await replicas.start({ unlisted: [replicas.upstream('demo')] });
  expect((await router.choose('m')).backend.name).toBe('demo');
  expect(router.list()).toEqual([]);
  expect(router.unlisted()).toMatchObject([{ backend: { name: 'demo' }, models: ['m'] }]);
  expect(await router.registry.register(replicas.upstream('a'))).toMatchObject({ index: 0 });
  expect(await router.registry.remove('demo')).toBe(false);
});

test('a backend that is replaced or removed is closed on every replica', async () => {
  await registerAll('a');
  await left.registry.register(configOf('a', { url: 'http://elsewhere.example.com' }));
  await settled();
  expect(replicas.upstreams.get('a')?.closed).toBe(2);
  await left.registry.remove('a');
  await settled();
  expect(replicas.upstreams.get('a')?.closed).toBe(4);
});

test('a backend that is removed serves the requests that it has, and is closed then', async () => {
  await registerAll('a');
  const routes = [await left.choose('m'), await left.choose('m')];
  await left.registry.remove('a');
  await settled();
  const upstream = replicas.upstreams.get('a');
  expect(upstream?.closed).toBe(1);
  await routes[0]?.settle('success');
  await settled();
  expect(upstream?.closed).toBe(1);
  await routes[1]?.settle('neutral');
  await settled();
  expect(upstream?.closed).toBe(2);
});

test('failures on all replicas count together, and all know the circuit', async () => {
  await registerAll('a');
  for (const router of [left, right, left]) {
    await (await router.choose('m')).settle('failure');
    await settled();
  }
  expect([left.list(), right.list()]).toMatchObject([[{ circuit: 'open' }], [{ circuit: 'open' }]]);
  await right.registry.register(configOf('a', { url: 'http://elsewhere.example.com' }));
  await settled();
  expect([left.list(), right.list()]).toMatchObject([
    [{ circuit: 'closed' }],
    [{ circuit: 'closed' }],
  ]);
});

test('a success on one replica ends the row of failures on the other', async () => {
  await registerAll('a');
  await (await left.choose('m')).settle('failure');
  await (await left.choose('m')).settle('failure');
  await settled();
  await (await right.choose('m')).settle('success');
  await settled();
  await (await left.choose('m')).settle('failure');
  expect(left.list()).toMatchObject([{ circuit: 'closed' }]);
});

test('one of many requests on all replicas tries a half-open circuit', async () => {
  await registerAll('a');
  for (let failure = 0; failure < 3; failure += 1) {
    await (await left.choose('m')).settle('failure');
  }
  await settled();
  clock.advance(30_000);
  const choices = Array.from({ length: 20 }, (_, index) => (index % 2 ? left : right).choose('m'));
  const outcomes = await Promise.allSettled(choices);
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
});

test('requests that the other replicas gave to a backend count', async () => {
  await registerAll('a', 'b');
  await right.choose('m', { provider: 'a' });
  expect((await left.choose('m')).backend.name).toBe('a');
  await right.choose('m', { provider: 'a' });
  await until(() => left.list()[0]?.requests === 3);
  expect((await left.choose('m')).backend.name).toBe('b');
  await until(() => right.list()[1]?.requests === 1);
});

test('counts are published together, and not at all without new ones', async () => {
  await registerAll('a');
  for (let request = 0; request < 50; request += 1) await left.choose('m');
  await until(() => right.list()[0]?.requests === 50);
  expect(replicas.stores.published('request-counts')).toBe(1);
});

test('context lengths and the time of registration are the same on every replica', async () => {
  const probe = () =>
    Promise.resolve({
      state: 'Healthy' as const,
      models: ['m'],
      contextLengths: new Map([['m', 4_096]]),
    });
  await left.registry.register(replicas.upstream('a', { probe }));
  await settled();
  for (const router of [left, right, await replicas.start()]) {
    expect(router.list()).toMatchObject([{ registeredAt: REGISTERED_AT }]);
    expect(router.list()[0]?.contextLengths.get('m')).toBe(4_096);
  }
});

test('aliases are the same on every replica, sorted, and one hop', async () => {
  await registerAll('a');
  await left.aliases.set('z', 'm');
  await right.aliases.set('b', 'z');
  await settled();
  const both = [
    { alias: 'b', target: 'z' },
    { alias: 'z', target: 'm' },
  ];
  expect([left.aliases.list(), right.aliases.list()]).toMatchObject([both, both]);
  expect(left.aliases.list()).toEqual(right.aliases.list());
  expect(await right.choose('z')).toMatchObject({ model: 'm' });
  await expect(right.choose('b')).rejects.toThrow('No backend available for model: b');
  await right.aliases.remove('b');
  await right.aliases.remove('never set');
  await settled();
  expect(left.aliases.list()).toMatchObject([{ alias: 'z', target: 'm' }]);
});

test('replicas that set one alias at the same time agree', async () => {
  await Promise.all([left.aliases.set('x', 'left'), right.aliases.set('x', 'right')]);
  await settled();
  expect(left.aliases.list()).toEqual(right.aliases.list());
  expect(left.aliases.list()).toHaveLength(1);
});

test('a replica that starts gets the aliases of the others, and they are lost with the last one', async () => {
  await left.aliases.set('x', 'm');
  const started = await replicas.start();
  expect(started.aliases.list()).toMatchObject([{ alias: 'x', target: 'm' }]);
  await replicas.stop();
  expect((await replicas.start()).aliases.list()).toEqual([]);
});

describe('health rounds', () => {
  const INTERVAL_MS = 100;
  const rules = {
    healthIntervalMs: INTERVAL_MS,
    probeTimeoutMs: 50,
    breakerFailures: 3,
    breakerOpenMs: 30_000,
  };

  test('one replica per round probes for all, and another one after it stopped', async () => {
    const timed = createReplicas(systemClock);
    const routers = [await timed.start({ rules }), await timed.start({ rules })];
    const [first, second] = routers;
    await first?.registry.register(timed.upstream('a'));
    await until(() => second?.list()[0]?.state === 'Healthy');
    const upstream = timed.upstreams.get('a');
    if (upstream === undefined) throw new Error('no upstream');
    const [before, startedAt] = [upstream.probes, performance.now()];
    await until(() => upstream.probes === before + 4);
    expect(performance.now() - startedAt).toBeGreaterThan(INTERVAL_MS * 2);

    upstream.probe = () => Promise.resolve({ state: 'Degraded', models: [], reason: 'busy' });
    await until(() => routers.every((router) => router.list()[0]?.state === 'Degraded'));
    expect(second?.list()).toMatchObject([{ reason: 'busy', models: ['m'] }]);

    await first?.stop();
    const probesBefore = upstream.probes;
    await until(() => upstream.probes > probesBefore);
    await timed.stop();
  });

  test('the list is read again in every round', async () => {
    const timed = createReplicas(systemClock);
    const router = await timed.start({ rules });
    timed.kept.push(timed.upstream('quietly added'));
    await until(() => router.list()[0]?.state === 'Healthy');
    await timed.stop();
  });
});
