import { manualClock, type ManualClock } from '@model-gateway/kernel';
import type { Router } from '../src/index.ts';
import { createReplicas, serving, settled, type Replicas } from './replicas.ts';

let clock: ManualClock;
let replicas: Replicas;
let left: Router;
let right: Router;

beforeEach(async () => {
  clock = manualClock(1_000_000);
  replicas = createReplicas(clock);
  [left, right] = [await replicas.start(), await replicas.start()];
  await register('a');
});
afterEach(() => replicas.stop());

async function register(name: string): Promise<void> {
  await left.registry.register(replicas.upstream(name, { probe: serving('m', 'other') }));
  await settled();
}

async function limit(router: Router, forMs: number, model = 'm', provider = 'a'): Promise<void> {
  const lease = await router.choose(model, { provider });
  await lease.settle({ kind: 'rate_limited', forMs });
  await settled();
}

async function refuseKey(
  router: Router,
  { provider = 'a', isSuspicion = false } = {},
): Promise<void> {
  const lease = await router.choose('m', { provider });
  const refusal = { reason: 'check the key', forMs: 60_000, isSuspicion };
  await lease.settle({ kind: 'key_refused', ...refusal });
  await settled();
}

async function chosen(router: Router, model = 'm'): Promise<string> {
  const lease = await router.choose(model);
  await lease.settle('neutral');
  return lease.backend.name;
}

const isLimited = (seconds: number) => ({
  code: 'rate_limit_exceeded',
  message: `the upstream of model 'm' limits its requests; try again in ${seconds} s`,
  details: { retry_after_secs: seconds },
});

describe('a rate limit', () => {
  test('cools the model on that backend, on every replica, and no other model', async () => {
    await limit(left, 7_000);
    for (const router of [left, right]) {
      await expect(router.choose('m')).rejects.toMatchObject(isLimited(7));
      expect(await chosen(router, 'other')).toBe('a');
      expect(router.list()).toMatchObject([{ state: 'Healthy', circuit: 'closed' }]);
    }
    clock.advance(6_001);
    await expect(right.choose('m')).rejects.toMatchObject(isLimited(1));
    clock.advance(1_000);
    for (const router of [left, right]) expect(await chosen(router)).toBe('a');
  });

  test('does not count in the circuit breaker, however often', async () => {
    for (let count = 0; count < 5; count += 1) {
      await limit(left, 1_000);
      clock.advance(1_001);
    }
    expect(left.list()).toMatchObject([{ circuit: 'closed' }]);
    expect(await chosen(right)).toBe('a');
  });

  test('sends requests to another backend; if all cool, the first to be ready is named', async () => {
    await register('b');
    await limit(left, 9_000, 'm', 'a');
    for (let count = 0; count < 3; count += 1) expect(await chosen(right)).toBe('b');
    await limit(right, 3_000, 'm', 'b');
    await expect(left.choose('m')).rejects.toMatchObject(isLimited(3));
    // A backend that is down is no candidate.
    for (let count = 0; count < 3; count += 1) {
      await (await left.choose('other', { provider: 'b' })).settle('failure');
    }
    await expect(left.choose('m')).rejects.toMatchObject(isLimited(9));
  });

  test('moves a conversation to another backend', async () => {
    await register('b');
    const first = await left.choose('m', { conversationId: 'c' });
    await first.settle({ kind: 'rate_limited', forMs: 9_000 });
    const second = await left.choose('m', { conversationId: 'c' });
    expect([first.backend.name, second.backend.name]).toEqual(['a', 'b']);
  });

  test('that is shorter does not end a longer one', async () => {
    const routes = [await left.choose('m'), await left.choose('m')];
    await routes[0]?.settle({ kind: 'rate_limited', forMs: 60_000 });
    await routes[1]?.settle({ kind: 'rate_limited', forMs: 1_000 });
    await settled();
    for (const router of [left, right]) {
      await expect(router.choose('m')).rejects.toMatchObject(isLimited(60));
    }
  });

  test('is known to a replica that starts later, and to one that missed the message', async () => {
    await limit(left, 20_000);
    clock.advance(5_000);
    const late = await replicas.start();
    await expect(late.choose('m')).rejects.toMatchObject(isLimited(15));
    const { channels } = replicas.stores;
    const deaf = { ...channels, subscribe: async () => ({ close: async () => undefined }) };
    const apart = await replicas.start({ channels: deaf });
    await limit(left, 30_000, 'other');
    expect(await chosen(apart, 'other')).toBe('a');
    await apart.refresh();
    await expect(apart.choose('other')).rejects.toMatchObject({ code: 'rate_limit_exceeded' });
  });

  test('holds in its process while the shared stores are away', async () => {
    const away = () => Promise.reject(new Error('away'));
    const { entries } = replicas.stores;
    const alone = await replicas.start({ entries: { ...entries, put: away, get: away } });
    await limit(alone, 5_000);
    await expect(alone.choose('m')).rejects.toMatchObject(isLimited(5));
    expect(await chosen(alone, 'other')).toBe('a');
  });

  test('ends when the backend is registered again or removed', async () => {
    await limit(left, 60_000);
    await register('a');
    for (const router of [left, right, await replicas.start()]) {
      expect(await chosen(router)).toBe('a');
    }
    await limit(right, 60_000);
    await right.registry.remove('a');
    await settled();
    await register('a');
    for (const router of [left, right]) expect(await chosen(router)).toBe('a');
  });
});

describe('a refused key', () => {
  const states = (router: Router) => router.list().map(({ state, reason }) => ({ state, reason }));
  const refused = { state: 'Degraded', reason: 'check the key' };

  test('is reported as Degraded on every replica until a request succeeds', async () => {
    await refuseKey(left);
    for (const router of [left, right]) expect(states(router)).toEqual([refused]);
    // A probe does not use the key for a request.
    await left.probe('a');
    expect(states(left)).toEqual([refused]);
    const lease = await right.choose('m');
    await lease.settle('success');
    await settled();
    for (const router of [left, right, await replicas.start()]) {
      expect(states(router)).toEqual([{ state: 'Healthy', reason: undefined }]);
    }
  });

  test('is believed for a while, and leaves the circuit closed', async () => {
    for (let count = 0; count < 4; count += 1) await refuseKey(left);
    expect(left.list()).toMatchObject([{ state: 'Degraded', circuit: 'closed' }]);
    clock.advance(60_001);
    expect(left.list()).toMatchObject([{ state: 'Healthy' }]);
  });

  test('sends requests to other backends; the only backend is still tried', async () => {
    await refuseKey(left);
    for (const router of [left, right]) expect(await chosen(router)).toBe('a');
    await register('b');
    for (const router of [left, left, right]) expect(await chosen(router)).toBe('b');
  });

  test('that may be about one request is reported, and changes nothing for other requests', async () => {
    await register('b');
    await refuseKey(left, { isSuspicion: true });
    for (const router of [left, right, await replicas.start()]) {
      expect(router.list()).toMatchObject([
        { ...refused, isRoutable: true },
        { state: 'Healthy', isRoutable: true },
      ]);
      const names = [await chosen(router), await chosen(router)];
      expect(names.toSorted()).toEqual(['a', 'b']);
    }
    // A refusal that is certain takes its place.
    await refuseKey(left);
    for (const router of [left, left, right]) expect(await chosen(router)).toBe('b');
  });

  test('causes a probe, which decides whether the backend gets requests', async () => {
    await register('b');
    const upstream = replicas.upstreams.get('a');
    if (upstream === undefined) throw new Error('there is no upstream');
    const { probes } = upstream;
    // A probe of a moment ago is enough.
    await refuseKey(left, { isSuspicion: true });
    expect(upstream.probes).toBe(probes);
    clock.advance(5_000);
    const reason = 'the models listing answered 403';
    upstream.probe = () => Promise.resolve({ state: 'Degraded', models: [], reason });
    for (let count = 0; count < 3; count += 1) {
      const lease = await left.choose('m', { provider: 'a' }).catch(() => undefined);
      await lease?.settle({ kind: 'key_refused', reason: '', forMs: 1, isSuspicion: true });
    }
    await settled();
    expect(upstream.probes).toBe(probes + 1);
    for (const router of [left, right]) {
      expect(router.list()).toMatchObject([{ state: 'Degraded', reason, isRoutable: false }, {}]);
      expect([await chosen(router), await chosen(router)]).toEqual(['b', 'b']);
    }
  });

  test('does not hide that a backend is down', async () => {
    await refuseKey(left);
    const upstream = replicas.upstreams.get('a');
    if (upstream === undefined) throw new Error('there is no upstream');
    upstream.probe = () => Promise.resolve({ state: 'Unhealthy', models: [], reason: 'no answer' });
    await left.probe('a');
    expect(states(left)).toEqual([{ state: 'Unhealthy', reason: 'no answer' }]);
  });
});
