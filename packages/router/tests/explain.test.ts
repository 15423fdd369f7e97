import { manualClock, type ManualClock } from '@model-gateway/kernel';
import type { ChoiceTrace, RouteRule, Router } from '../src/index.ts';
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

async function register(name: string, upstream: Partial<FakeUpstream> = {}, limits?: object) {
  await router.registry.register({ ...replicas.upstream(name, upstream), limits });
}

/** Who would be tried, in order, and why the others are not. */
async function explained(...asked: Parameters<Router['explain']>) {
  const targets = await router.explain(...asked);
  const tried = targets.filter(({ position }) => position !== undefined);
  expect(tried.map(({ position }) => position)).toEqual(tried.map((_one, at) => at + 1));
  expect(tried.every(({ reason }) => reason === undefined)).toBe(true);
  const skipped = targets.filter(({ position }) => position === undefined);
  return {
    tried: tried.map(({ backend, model }) => `${model}@${backend}`),
    skipped: Object.fromEntries(skipped.map(({ backend = '', reason }) => [backend, reason])),
  };
}

/** What a request that fails everywhere is sent to, and what its trace has. */
async function sent(...[model, options]: Parameters<Router['choose']>) {
  const trace: ChoiceTrace = { skipped: undefined };
  const tried: { backend: string; model: string }[] = [];
  for (;;) {
    const lease = await router
      .choose(model, { ...options, exclude: tried, trace })
      .catch(() => undefined);
    if (lease === undefined) break;
    await lease.settle('neutral');
    tried.push({ backend: lease.backend.name, model: lease.model });
  }
  const skipped = (trace.skipped ?? []).map(({ backend, reason }) => [backend, reason]);
  return {
    tried: tried.map((one) => `${one.model}@${one.backend}`),
    skipped: Object.fromEntries(skipped),
  };
}

const ruleOf = (targets: RouteRule['targets']): RouteRule => ({
  model: 'best',
  targets,
  attempts: 2,
  retryOn: ['transport', 'timeout', '5xx', '429'],
});

test('says for each backend whether it is tried, and why not, as requests are served', async () => {
  await register('up');
  await register('also');
  await register('down', { probe: async () => ({ state: 'Unhealthy', models: ['m'] }) });
  await register('broken');
  await register('cooling');
  await register('full', {}, { concurrency: 1 });
  await register('embeds', { capabilities: ['embeddings'] });
  await register('elsewhere', { probe: serving('other') });
  const running = await router.choose('m', { provider: 'full' });
  const limited = await router.choose('m', { provider: 'cooling' });
  await limited.settle({ kind: 'rate_limited', forMs: 5_000 });
  for (let failure = 0; failure < 3; failure += 1) {
    await (await router.choose('m', { provider: 'broken' })).settle('failure');
  }
  const used = await router.choose('m', { provider: 'up' });
  await used.settle('success');

  const asked = ['m', { capability: 'chat' }] as const;
  const said = await explained(...asked);
  expect(said).toEqual({
    tried: ['m@also', 'm@up'],
    skipped: {
      down: 'unhealthy',
      broken: 'circuit_open',
      cooling: 'cooling',
      full: 'full',
      embeds: 'no_capability',
      elsewhere: 'model_not_listed',
    },
  });
  const { elsewhere: _elsewhere, ...skipped } = said.skipped;
  expect(await sent(...asked)).toEqual({ tried: said.tried, skipped });

  expect(await explained('m', { capability: 'chat', provider: 'up' })).toMatchObject({
    tried: ['m@up'],
    skipped: { also: 'not_preferred', full: 'not_preferred', elsewhere: 'model_not_listed' },
  });
  expect(await sent('m', { provider: 'up' })).toMatchObject({
    tried: ['m@up'],
    skipped: { also: 'not_preferred' },
  });
  await running.settle('success');
  expect((await explained(...asked)).tried).toContain('m@full');
});

test('a refused key is tried last', async () => {
  await register('refused');
  await register('fine');
  const lease = await router.choose('m', { provider: 'refused' });
  await lease.settle({
    kind: 'key_refused',
    reason: 'the key is wrong',
    forMs: 5_000,
    isSuspicion: false,
  });
  expect((await explained('m')).tried).toEqual(['m@fine', 'm@refused']);
  const targets = await router.explain('m');
  expect(targets[1]).toMatchObject({ backend: 'refused', detail: 'the key is wrong' });
  const trace: ChoiceTrace = { skipped: undefined };
  expect((await router.choose('m', { trace })).backend.name).toBe('fine');
  expect(trace.skipped).toEqual([{ backend: 'refused', model: 'm', reason: 'key_refused' }]);
});

test('a route: the first priority with its shares, then the others, and targets that lead nowhere', async () => {
  await register('gpu', { probe: serving('llama') });
  await register('cloud', { probe: serving('gpt', 'mini') });
  await register('other', { probe: serving('unrelated') });
  await router.routes.set(
    ruleOf([
      { model: 'mini', priority: 0, weight: 1 },
      { model: 'llama', priority: 0, weight: 3 },
      { model: 'gpt', priority: 1, weight: 1 },
      { model: 'gpt', backend: 'gpu', priority: 1, weight: 1 },
      { model: 'gpt', backend: 'gone', priority: 1, weight: 1 },
      { model: 'nowhere', priority: 2, weight: 1 },
    ]),
  );
  const targets = await router.explain('best');
  expect(
    targets.map(({ backend, model, share, reason }) => [backend, model, share, reason]),
  ).toEqual([
    ['gpu', 'llama', 0.75, undefined],
    ['cloud', 'mini', 0.25, undefined],
    ['cloud', 'gpt', 0, undefined],
    ['gpu', undefined, undefined, 'model_not_listed'],
    ['gone', undefined, undefined, 'not_registered'],
    [undefined, undefined, undefined, 'model_not_listed'],
    ['other', undefined, undefined, 'not_in_route'],
  ]);
});

/** The backends that get requests first, with their parts. */
async function shares(): Promise<object> {
  const targets = await router.explain('best');
  return Object.fromEntries(
    targets.flatMap(({ backend = '', share }) => (share ? [[backend, share]] : [])),
  );
}

test('the backends of one target share its part, and all parts together are 1', async () => {
  for (const name of ['a', 'b', 'c', 'd']) await register(name);
  await router.routes.set(
    ruleOf([
      { model: 'm', priority: 0, weight: 3 },
      { model: 'm', backend: 'a', priority: 0, weight: 1 },
    ]),
  );
  expect(await shares()).toEqual({ a: 0.4375, b: 0.1875, c: 0.1875, d: 0.1875 });
});

test('a backend whose key was refused has no part while another target is up', async () => {
  await register('refused');
  await register('spare');
  await router.routes.set(
    ruleOf([
      { model: 'm', backend: 'refused', priority: 0, weight: 1 },
      { model: 'm', backend: 'spare', priority: 1, weight: 1 },
    ]),
  );
  const lease = await router.choose('best');
  expect(lease.backend.name).toBe('refused');
  await lease.settle({ kind: 'key_refused', reason: 'wrong', forMs: 5_000, isSuspicion: false });
  expect((await router.choose('best')).backend.name).toBe('spare');
  expect(await shares()).toEqual({ spare: 1 });
});

test('without anything to skip, nothing is kept', async () => {
  await register('a');
  await register('b', { probe: serving('other') });
  const trace: ChoiceTrace = { skipped: undefined };
  await (await router.choose('m', { trace })).settle('success');
  expect(trace.skipped).toBeUndefined();
});
