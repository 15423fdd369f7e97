import { manualClock } from '@model-gateway/kernel';
import type { BackendConfig, Router } from '../src/index.ts';
import { createReplicas, settled, type Replicas } from './replicas.ts';

let replicas: Replicas;
let left: Router;
let right: Router;

beforeEach(async () => {
  replicas = createReplicas(manualClock(1_000_000));
  [left, right] = [await replicas.start(), await replicas.start()];
});
afterEach(() => replicas.stop());

const names = (router: Router): readonly string[] =>
  router.list().map(({ backend }) => backend.name);

async function register(name: string): Promise<void> {
  await left.registry.register(replicas.upstream(name));
  await settled();
}

const move = (url: string) => (config: BackendConfig) => ({ ...config, url });
const rename = (model: string) => (config: BackendConfig) => ({ ...config, models: [model] });

test('a change loses nothing of another one at the same time, on this replica or another', async () => {
  await register('a');
  const deaf = { subscribe: async () => ({ close: async () => undefined }) };
  const behind = await replicas.start({ channels: { ...replicas.stores.channels, ...deaf } });
  await Promise.all([
    left.registry.change('a', move('http://elsewhere.example.com')),
    left.registry.change('a', rename('new')),
    behind.registry.change('a', (config) => ({ ...config, capabilities: ['chat'] })),
  ]);
  await settled();
  const changed = {
    url: 'http://elsewhere.example.com',
    models: ['new'],
    capabilities: ['chat'],
  };
  expect(replicas.kept).toMatchObject([changed]);
  for (const router of [left, right, behind]) {
    await router.refresh();
    expect(router.registry.find('a')).toMatchObject(changed);
  }
});

test('a change is not made where the backend was removed meanwhile', async () => {
  await register('a');
  replicas.kept.length = 0;
  expect(await left.registry.change('a', rename('new'))).toBeUndefined();
  expect(await left.registry.change('unknown', rename('new'))).toBeUndefined();
  expect([names(left), replicas.kept]).toEqual([[], []]);
});

test('a change works without the database, and is stored afterwards', async () => {
  await register('a');
  replicas.storeIsAway = true;
  await left.registry.register(replicas.upstream('b'));
  for (const name of ['a', 'b']) {
    expect(await left.registry.change(name, rename('new'))).toMatchObject({
      config: { models: ['new'] },
    });
  }
  replicas.storeIsAway = false;
  await left.refresh();
  await settled();
  expect(replicas.kept.map(({ models }) => models)).toEqual([['new'], ['new']]);
  expect(names(right)).toEqual(['a', 'b']);
});
