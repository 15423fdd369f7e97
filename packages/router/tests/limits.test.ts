import { manualClock } from '@model-gateway/kernel';
import { array, assert, asyncProperty, boolean, nat, record } from 'fast-check';
import type { Lease, Router } from '../src/index.ts';
import { createReplicas, serving, settled, until, type Replicas } from './replicas.ts';

let replicas: Replicas;
let router: Router;
let other: Router;

beforeEach(async () => {
  replicas = createReplicas(manualClock(1_000_000));
  router = await replicas.start();
  other = await replicas.start();
});
afterEach(() => replicas.stop());

async function register(name: string, limits: object | undefined, model = 'm'): Promise<void> {
  const config = replicas.upstream(name, { probe: serving(model) });
  await router.registry.register({ ...config, limits });
  await until(() => other.list().some((listed) => listed.backend.name === name));
}

const FULL = {
  code: 'rate_limit_exceeded',
  message: "the backends of model 'm' are at their limits; try again in 1 s",
  details: { retry_after_secs: 1 },
};

test('a full backend is skipped on all replicas; without another one the request is refused', async () => {
  await register('first', { concurrency: 1 });
  await register('second', { rpm: 2 });
  const routes = [await router.choose('m'), await other.choose('m'), await router.choose('m')];
  expect(routes.map(({ backend }) => backend.name).toSorted()).toEqual([
    'first',
    'second',
    'second',
  ]);
  await expect(other.choose('m')).rejects.toMatchObject(FULL);
  // A place is free when its request has ended; the requests of the minute are not.
  for (const lease of routes) await lease.settle('success');
  await settled();
  expect((await other.choose('m')).backend.name).toBe('first');
  await expect(router.choose('m')).rejects.toMatchObject(FULL);
  // It is no failure of the backend.
  expect(router.list().map(({ circuit }) => circuit)).toEqual(['closed', 'closed']);
});

test('the place of a request that was left is free a moment later, when the upstream has noticed', async () => {
  await register('first', { concurrency: 1 });
  const lease = await router.choose('m');
  await lease.settle('left');
  await settled();
  await expect(other.choose('m')).rejects.toMatchObject(FULL);
  await until(async () => {
    const next = await other.choose('m').catch(() => undefined);
    await next?.settle('success');
    return next !== undefined;
  });
});

test('a conversation leaves a backend while that is full', async () => {
  await register('first', { concurrency: 1 });
  await register('second', undefined);
  const conversation = { conversationId: 'c' };
  const first = await router.choose('m', conversation);
  expect(first.backend.name).toBe('first');
  expect((await other.choose('m', conversation)).backend.name).toBe('second');
});

test('tokens count where the backend limits them', async () => {
  await register('first', { tokensPerDay: 10 });
  await register('plain', undefined, 'other');
  other.limits.addTokens('first', 9);
  other.limits.addTokens('plain', 1_000);
  other.limits.addTokens('unknown', 1_000);
  await (await router.choose('m')).settle('success');
  router.limits.addTokens('first', 1);
  await settled();
  await expect(other.choose('m')).rejects.toMatchObject(FULL);
  await (await other.choose('other')).settle('success');
});

test('a changed limit applies on all replicas', async () => {
  await register('first', { concurrency: 1 });
  await router.choose('m');
  await expect(other.choose('m')).rejects.toMatchObject(FULL);
  await router.registry.change('first', (config) => ({ ...config, limits: { concurrency: 2 } }));
  await until(() => other.list()[0]?.limits?.concurrency === 2);
  await other.choose('m');
  await expect(router.choose('m')).rejects.toMatchObject(FULL);
});

test('a router that stops releases its places', async () => {
  await register('first', { concurrency: 1 });
  await router.choose('m');
  await router.stop();
  await other.choose('m');
});

test('no backend ever has more requests than its limit, whatever runs at the same time', async () => {
  const limits = { one: 1, three: 3 };
  for (const [name, concurrency] of Object.entries(limits)) await register(name, { concurrency });
  const step = record({ isOther: boolean(), ends: nat(5) });
  await assert(
    asyncProperty(array(step, { maxLength: 40 }), async (steps) => {
      const running: Lease[] = [];
      const counts = { one: 0, three: 0 };
      const begin = async (from: Router): Promise<void> => {
        const lease = await from.choose('m').catch(() => undefined);
        if (lease === undefined) return;
        const name = lease.backend.name === 'one' ? 'one' : 'three';
        counts[name] += 1;
        running.push(lease);
        expect(counts[name]).toBeLessThanOrEqual(limits[name]);
      };
      const end = async (lease: Lease | undefined): Promise<void> => {
        if (lease === undefined) return;
        counts[lease.backend.name === 'one' ? 'one' : 'three'] -= 1;
        await lease.settle('success');
      };
      const begun: Promise<void>[] = [];
      for (const { isOther, ends } of steps) {
        begun.push(begin(isOther ? other : router));
        if (ends === 0) await end(running.shift());
      }
      await Promise.all(begun);
      for (const lease of running.splice(0)) await end(lease);
      await settled();
      // All places are free again.
      const again = await Promise.all(Array.from({ length: 4 }, () => router.choose('m')));
      for (const lease of again) await lease.settle('neutral');
      await settled();
    }),
    { numRuns: 30 },
  );
});
