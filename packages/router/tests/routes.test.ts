import { manualClock } from '@model-gateway/kernel';
import type { RouteRule, Router } from '../src/index.ts';
import { createReplicas, serving, until } from './replicas.ts';

const clock = manualClock(1_000_000);
const replicas = createReplicas(clock);
let router: Router;
let other: Router;

beforeAll(async () => {
  router = await replicas.start();
  other = await replicas.start();
  for (const [name, model] of [
    ['gpu', 'llama'],
    ['gpu-2', 'llama'],
    ['cloud', 'gpt'],
  ] as const) {
    await router.registry.register(replicas.upstream(name, { probe: serving(model) }));
  }
  await until(() => other.list().length === 3);
});
afterAll(() => replicas.stop());

const ruleOf = (rule: Pick<RouteRule, 'targets'> & Partial<RouteRule>): RouteRule => ({
  model: 'best',
  attempts: 2,
  retryOn: ['transport', 'timeout', '5xx', '429'],
  ...rule,
});
const llama = { model: 'llama', priority: 0, weight: 1 };
const gpt = { model: 'gpt', priority: 1, weight: 1 };

async function chosen(from: Router, exclude: { backend: string; model: string }[] = []) {
  const lease = await from.choose('best', { exclude });
  await lease.settle('neutral');
  return `${lease.model}@${lease.backend.name}`;
}

test('the first priority is used while one of it is up, on both replicas', async () => {
  await router.routes.set(ruleOf({ targets: [gpt, llama] }));
  await until(() => other.routes.list().length === 1);
  for (const from of [router, other]) {
    const first = await chosen(from);
    const second = await chosen(from);
    expect(new Set([first, second])).toEqual(new Set(['llama@gpu', 'llama@gpu-2']));
    const tried = ['gpu', 'gpu-2'].map((backend) => ({ backend, model: 'llama' }));
    expect(await chosen(from, tried)).toBe('gpt@cloud');
    const all = [...tried, { backend: 'cloud', model: 'gpt' }];
    await expect(chosen(from, all)).rejects.toMatchObject({ code: 'all_backends_unhealthy' });
  }
});

test('a route carries how a request is tried again; a model without one does not', async () => {
  await router.routes.set(ruleOf({ targets: [llama], attempts: 5, timeoutMs: 700 }));
  const lease = await router.choose('best');
  expect(lease.retries).toMatchObject({ attempts: 5, timeoutMs: 700 });
  const plain = await router.choose('llama');
  expect(plain.retries).toBeUndefined();
  await Promise.all([lease.settle('neutral'), plain.settle('neutral')]);
});

test.each([0, 0.3, 0.999])(
  '600 requests on two replicas meet weights of 3:1 within 10 %%, wherever their numbers begin: %d',
  async (begin) => {
    const pair = [
      await replicas.start({ random: () => begin }),
      await replicas.start({ random: () => begin / 2 }),
    ];
    const targets = [
      { ...gpt, priority: 0, weight: 1 },
      { ...llama, weight: 3 },
    ];
    await router.routes.set(ruleOf({ targets }));
    const counts = new Map<string, number>();
    for (const from of pair) {
      await until(() => from.list().every(({ isRoutable }) => isRoutable));
      await until(() => from.routes.find('best', 'best')?.targets.length === 2);
      for (let call = 0; call < 300; call += 1) {
        const [model = ''] = (await chosen(from)).split('@');
        counts.set(model, (counts.get(model) ?? 0) + 1);
      }
    }
    expect(Math.abs((counts.get('gpt') ?? 0) - 150)).toBeLessThanOrEqual(15);
    expect(counts.get('llama')).toBe(600 - (counts.get('gpt') ?? 0));
  },
);

test('a backend that a target names is the only one', async () => {
  await router.routes.set(ruleOf({ targets: [{ ...llama, backend: 'gpu-2' }] }));
  expect(await chosen(router)).toBe('llama@gpu-2');
  expect(await chosen(router)).toBe('llama@gpu-2');
});

test('a conversation leaves a backend of a later priority when the first one is up again', async () => {
  await router.routes.set(ruleOf({ targets: [{ ...llama, backend: 'gpu' }, gpt] }));
  const tried = [{ backend: 'gpu', model: 'llama' }];
  const away = await router.choose('best', { conversationId: 'talk', exclude: tried });
  expect(away.backend.name).toBe('cloud');
  await away.settle('neutral');
  const back = await router.choose('best', { conversationId: 'talk' });
  expect(back.backend.name).toBe('gpu');
  await back.settle('neutral');
});

test('a removed route leads nowhere, and its model is as before', async () => {
  expect(await router.routes.remove('best')).toBe(true);
  expect(await router.routes.remove('best')).toBe(false);
  await expect(router.choose('best')).rejects.toMatchObject({ code: 'model_not_found' });
  await until(() => other.routes.list().length === 0);
});
