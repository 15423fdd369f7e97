import { setImmediate as nextTurn } from 'node:timers/promises';
import { manualClock, type ManualClock } from '@model-gateway/kernel';
import type { Router } from '../src/index.ts';
import { createReplicas, serving, type FakeUpstream, type Replicas } from './replicas.ts';

let clock: ManualClock;
let replicas: Replicas;
let router: Router;

beforeEach(async () => {
  clock = manualClock(1_000_000);
  replicas = createReplicas(clock);
  router = await replicas.start();
});
afterEach(() => replicas.stop());

async function register(name: string, upstream: Partial<FakeUpstream> = {}): Promise<number> {
  return (await router.registry.register(replicas.upstream(name, upstream))).index;
}

async function chosen(...options: Parameters<Router['choose']>): Promise<string> {
  const lease = await router.choose(...options);
  await lease.settle('success');
  return lease.backend.name;
}

async function fail(name: string, times = 3): Promise<void> {
  for (let failure = 0; failure < times; failure += 1) {
    const lease = await router.choose('m', { provider: name });
    await lease.settle('failure');
  }
}

test('the backend with the fewest requests is chosen, among equals the one registered first', async () => {
  await register('a');
  await register('b');
  expect([await chosen('m'), await chosen('m'), await chosen('m')]).toEqual(['a', 'b', 'a']);
  await register('c');
  expect([await chosen('m'), await chosen('m')]).toEqual(['c', 'b']);
});

test('a request is given the id as the backend lists it', async () => {
  await register('a', { probe: serving('llama3:latest') });
  expect(await router.choose('llama3')).toMatchObject({ model: 'llama3:latest' });
});

test('a provider hint matches the name or the kind, in any case', async () => {
  await register('a');
  await register('b', { kind: 'engine' });
  expect(await chosen('m', { provider: 'B' })).toBe('b');
  expect(await chosen('m', { provider: 'Engine' })).toBe('b');
});

test.each([
  { why: 'nobody serves it', model: 'unknown', options: {}, code: 'model_not_found' },
  {
    why: 'the hinted provider does not serve it',
    model: 'm',
    options: { provider: 'nobody' },
    code: 'model_not_found',
  },
  {
    why: 'its backends do not do that',
    model: 'm',
    options: { capability: 'video' },
    code: 'unsupported_operation',
  },
  {
    why: 'all of them have been tried',
    model: 'm',
    options: { exclude: [{ backend: 'a', model: 'm' }] },
    code: 'all_backends_unhealthy',
  },
] as const)('a model has no backend: $why', async ({ model, options, code }) => {
  await register('a');
  await expect(router.choose(model, options)).rejects.toMatchObject({ code });
});

test('what is not found is named as it was requested', async () => {
  await router.aliases.set('nick', 'nowhere');
  await expect(router.choose('nick')).rejects.toThrow('No backend available for model: nick');
});

test('a quick-start model that no backend serves: the error says how to serve it', async () => {
  const model = 'Qwen/Qwen3-0.6B';
  await router.aliases.set('small', model);
  const advice = new RegExp(
    `^No backend available for model: (${model}|small)\\. .*POST /api/admin/backends`,
  );
  for (const asked of [model, 'small']) {
    await expect(router.choose(asked)).rejects.toMatchObject({ code: 'model_not_found' });
    await expect(router.choose(asked)).rejects.toThrow(advice);
  }
  await register('a', { probe: serving(model) });
  expect(await chosen(model)).toBe('a');
  // It is served, but not by this provider.
  const hinted = await router.choose(model, { provider: 'b' }).catch(String);
  expect(hinted).not.toContain('/api/admin/backends');
});

test('a backend that lacks a capability is skipped', async () => {
  await register('a', { capabilities: ['embeddings'] });
  await register('b', { capabilities: ['chat', 'embeddings'] });
  expect(await chosen('m', { capability: 'chat' })).toBe('b');
  expect(await chosen('m', { capability: 'chat' })).toBe('b');
});

test('a backend may have a capability for some of its models only', async () => {
  const capabilities = ['chat', 'realtime'] as const;
  const serves = (capability: string, model: string) => capability !== 'realtime' || model === 'm';
  await register('a', { capabilities, serves, probe: serving('m', 'other') });
  expect(await chosen('m', { capability: 'realtime' })).toBe('a');
  expect(await chosen('other', { capability: 'chat' })).toBe('a');
  await expect(router.choose('other', { capability: 'realtime' })).rejects.toThrow(
    "model 'other' does not support realtime sessions",
  );
  await expect(router.choose('m', { capability: 'invoke' })).rejects.toThrow(
    "the backend of model 'm' does not support generic invocation",
  );
});

test('a backend that responded counts as successful while it serves, and is closed only afterwards', async () => {
  await register('a');
  await fail('a', 2);
  const lease = await router.choose('m');
  await lease.answered();
  await fail('a', 2);
  expect(router.list()).toMatchObject([{ circuit: 'closed' }]);
  await router.registry.remove('a');
  expect(replicas.upstreams.get('a')?.closed).toBe(0);
  await lease.settle('neutral');
  await new Promise(setImmediate);
  expect(replicas.upstreams.get('a')?.closed).toBe(1);
});

test('a model whose backends are all unhealthy is known but unavailable', async () => {
  await register('a');
  const upstream = replicas.upstreams.get('a');
  if (upstream !== undefined) upstream.probe = () => Promise.reject(new Error('refused'));
  await router.registry.register(replicas.kept[0] ?? replicas.upstream('a'));
  await expect(router.choose('m')).rejects.toThrow('all backends unhealthy');
  expect(router.list()).toMatchObject([{ state: 'Unhealthy', reason: 'refused', models: ['m'] }]);
});

test('a registered list of models is known before the first probe', async () => {
  const config = replicas.upstream('a', { probe: () => Promise.reject(new Error('refused')) });
  await router.registry.register({ ...config, models: ['static'] });
  await expect(router.choose('static')).rejects.toThrow('all backends unhealthy');
});

test('what a backend can do that was never well is not known: its model is unavailable, not unsupported', async () => {
  const probe = () => Promise.reject(new Error('refused'));
  const config = replicas.upstream('a', { capabilities: [], probe });
  await router.registry.register({ ...config, models: ['static'] });
  await expect(router.choose('static', { capability: 'chat' })).rejects.toThrow(
    'all backends unhealthy',
  );
});

test('the models of a healthy probe stay known while an unhealthy one lists fewer', async () => {
  const config = replicas.upstream('a', { probe: serving('static', 'discovered') });
  const registration = { ...config, models: ['static'] };
  await router.registry.register(registration);
  const upstream = replicas.upstreams.get('a');
  if (upstream !== undefined)
    upstream.probe = () => Promise.resolve({ state: 'Degraded', models: ['static'] });
  await router.registry.register(registration);
  expect(router.list()).toMatchObject([{ state: 'Degraded', models: ['static', 'discovered'] }]);
  await expect(router.choose('discovered')).rejects.toThrow('all backends unhealthy');
  if (upstream !== undefined) upstream.probe = serving('static');
  await router.registry.register(registration);
  expect(router.list()).toMatchObject([{ state: 'Healthy', models: ['static'] }]);
  await expect(router.choose('discovered')).rejects.toThrow('No backend available');
});

test('failures in a row open the circuit until one request has tried it', async () => {
  await register('a');
  await fail('a', 2);
  expect(router.list()).toMatchObject([{ circuit: 'closed' }]);
  await fail('a', 1);
  expect(router.list()).toMatchObject([{ circuit: 'open', state: 'Healthy' }]);
  await expect(router.choose('m')).rejects.toThrow('all backends unhealthy');
  clock.advance(29_999);
  await expect(router.choose('m')).rejects.toThrow('all backends unhealthy');
  clock.advance(1);
  expect(router.list()).toMatchObject([{ circuit: 'half-open' }]);
  const trial = await router.choose('m');
  await expect(router.choose('m')).rejects.toThrow('all backends unhealthy');
  await trial.settle('success');
  expect(router.list()).toMatchObject([{ circuit: 'closed' }]);
  await router.choose('m');
});

test('a trial that fails opens the circuit for another period', async () => {
  await register('a');
  await fail('a');
  clock.advance(30_000);
  await fail('a', 1);
  expect(router.list()).toMatchObject([{ circuit: 'open' }]);
  clock.advance(30_000);
  expect(await chosen('m')).toBe('a');
});

test('a trial without a result is given to the next request', async () => {
  await register('a');
  await fail('a');
  clock.advance(30_000);
  await (await router.choose('m')).settle('neutral');
  await (await router.choose('m')).settle('success');
  expect(router.list()).toMatchObject([{ circuit: 'closed' }]);
});

test('a success in between resets the count, a refusal does not', async () => {
  await register('a');
  await fail('a', 2);
  await chosen('m');
  await fail('a', 2);
  await (await router.choose('m')).settle('neutral');
  expect(router.list()).toMatchObject([{ circuit: 'closed' }]);
  await fail('a', 1);
  expect(router.list()).toMatchObject([{ circuit: 'open' }]);
});

test('a backend that moved is probed there and gets requests at once', async () => {
  await register('a');
  await fail('a');
  const probes = replicas.upstreams.get('a')?.probes ?? 0;
  await router.moved('a');
  expect(router.list()).toMatchObject([{ circuit: 'closed', state: 'Healthy' }]);
  expect(replicas.upstreams.get('a')?.probes).toBe(probes + 1);
  expect(await chosen('m')).toBe('a');
});

test('only the first outcome of a request counts', async () => {
  await register('a');
  const lease = await router.choose('m');
  for (let time = 0; time < 3; time += 1) await lease.settle('failure');
  expect(router.list()).toMatchObject([{ circuit: 'closed' }]);
});

test('requests go to the others while a circuit is open or being tried', async () => {
  await register('a');
  await register('b');
  await fail('a');
  expect([await chosen('m'), await chosen('m')]).toEqual(['b', 'b']);
  clock.advance(30_000);
  await chosen('m', { provider: 'b' });
  await chosen('m', { provider: 'b' });
  const trial = await router.choose('m');
  expect(trial.backend.name).toBe('a');
  expect(await chosen('m')).toBe('b');
});

test('the store is not called while a circuit is closed and nothing fails', async () => {
  await register('a');
  const used: string[] = [];
  const { circuits } = replicas.stores;
  const watched = await replicas.start({
    circuits: {
      ...circuits,
      succeeded(name, token) {
        used.push(name);
        return circuits.succeeded(name, token);
      },
    },
  });
  await (await watched.choose('m')).settle('success');
  expect(used).toEqual([]);
});

test('a conversation stays with its backend while that can serve, and is bound to another when not', async () => {
  await register('a');
  await register('b');
  const conversation = { conversationId: 'c1' };
  expect(await chosen('m', conversation)).toBe('a');
  expect(await chosen('m', conversation)).toBe('a');
  expect(await chosen('m')).toBe('b');
  await fail('a');
  expect(await chosen('m', conversation)).toBe('b');
  clock.advance(30_000);
  await chosen('m', { provider: 'a' });
  expect(await chosen('m', conversation)).toBe('b');
  await router.registry.remove('b');
  expect(await chosen('m', conversation)).toBe('a');
});

test('a conversation is bound for a day from its last turn', async () => {
  await register('a');
  await register('b');
  const turn = (): Promise<string> => chosen('m', { conversationId: 'c1' });
  const HOUR_MS = 3_600_000;
  expect(await turn()).toBe('a');
  clock.advance(23 * HOUR_MS);
  expect(await turn()).toBe('a');
  clock.advance(23 * HOUR_MS);
  expect(await turn()).toBe('a');
  clock.advance(24 * HOUR_MS);
  expect(await turn()).toBe('b');
});

test('the turns of a conversation that begin at once go to one backend', async () => {
  await register('a');
  await register('b');
  const turns = Array.from({ length: 10 }, () => chosen('m', { conversationId: 'c1' }));
  expect(new Set(await Promise.all(turns)).size).toBe(1);
});

test('whether something can be served goes by health, not by circuits, and by what is wanted', async () => {
  await register('a', { capabilities: ['video'] });
  await register('down', {
    capabilities: ['video'],
    probe: () => Promise.resolve({ state: 'Unhealthy', models: ['other'] }),
  });
  await fail('a');
  await router.aliases.set('nickname', 'm');
  const can = (...wanted: Parameters<Router['canServe']>) => router.canServe(...wanted);
  expect([can('m'), can('nickname', { capability: 'video' }), can('m', { provider: 'A' })]).toEqual(
    [true, true, true],
  );
  expect([
    can('unknown'),
    can('other'),
    can('m', { capability: 'chat' }),
    can('m', { provider: 'down' }),
  ]).toEqual([false, false, false, false]);
});

test('an alias that was resolved earlier is not resolved again', async () => {
  await register('a');
  await router.aliases.set('m', 'gone');
  expect(await chosen('nickname', { resolved: 'm' })).toBe('a');
});

test('a backend that was chosen earlier can still be used, and is closed after that', async () => {
  await register('a');
  const used = router.use('a');
  expect(used?.backend.name).toBe('a');
  await router.registry.remove('a');
  expect(router.use('a')).toBeUndefined();
  expect(replicas.upstreams.get('a')?.closed).toBe(0);
  used?.release();
  await nextTurn();
  expect(replicas.upstreams.get('a')?.closed).toBe(1);
});

test('the order of a provider hint comes before the request counts', async () => {
  await register('a');
  await register('b');
  await register('c');
  const provider = { order: ['c', 'b'] };
  expect(await chosen('m', { provider })).toBe('c');
  expect(await chosen('m', { provider })).toBe('c');
  expect(await chosen('m', { provider, exclude: [{ backend: 'c', model: 'm' }] })).toBe('b');
  expect(
    await chosen('m', {
      provider,
      exclude: [
        { backend: 'b', model: 'm' },
        { backend: 'c', model: 'm' },
      ],
    }),
  ).toBe('a');
  const strict = { ...provider, allow_fallbacks: false };
  await expect(
    router.choose('m', {
      provider: strict,
      exclude: [
        { backend: 'b', model: 'm' },
        { backend: 'c', model: 'm' },
      ],
    }),
  ).rejects.toMatchObject({ code: 'all_backends_unhealthy' });
  await expect(router.choose('m', { provider: { only: ['x'] } })).rejects.toMatchObject({
    code: 'model_not_found',
  });
});
