import { silentLog } from '@model-gateway/kernel';
import type { PlacedBackend, ReachableModel } from '@model-gateway/router';
import { waitUntil } from '@model-gateway/testkit';
import { createNodeModels } from './node-models.ts';
import type { ModelLocation } from './model-locator.ts';

const DIRECT: ModelLocation = { url: 'http://node:1', isTunneled: false };
const THROUGH: ModelLocation = { url: 'http://tunnel/internal', isTunneled: true };
const READY = { model_id: 'm', status: 'ready', port: 1 };

function setUp() {
  const saved: (readonly ReachableModel[])[] = [];
  const located: ModelLocation[] = [DIRECT];
  const state = {
    isServing: true,
    isOwned: true,
    lost: 0,
    isStoreDown: false,
    deployed: ['m'],
  };
  const announced: { readonly names: readonly string[]; readonly isProbed: boolean }[] = [];
  const models = createNodeModels({
    node: { agentId: 'a', connectionId: 'c' },
    connections: {
      async saveModels(_node, reachable) {
        if (state.isStoreDown) throw new Error('the store is down');
        saved.push(reachable);
        return state.isOwned
          ? { backends: reachable.map(placedOf), deployed: state.deployed }
          : undefined;
      },
    },
    announcer: {
      async announce(backends, { isProbed = false } = {}) {
        if (backends.length > 0)
          announced.push({ names: backends.map(({ name }) => name), isProbed });
      },
    },
    locator: {
      locate: async () => located.at(-1),
      isServing: async () => state.isServing,
    },
    onlineSince: () => new Date(0),
    defaultPort: null,
    isDeploying: () => false,
    onLost: () => {
      state.lost += 1;
    },
    log: silentLog,
  });
  models.setDeployed(['m']);
  return { models, saved, located, announced, state };
}

const placedOf = ({ modelId, url }: ReachableModel): PlacedBackend => ({
  name: modelId,
  config:
    url === null
      ? null
      : { name: modelId, type: 'agent', url, apiKey: null, models: [], capabilities: null },
});

test('a report of the node is stored once, until it changes', async () => {
  const { models, saved, announced } = setUp();
  models.report([READY]);
  models.report([READY]);
  await waitUntil(() => saved.length === 1);
  expect(saved[0]).toEqual([{ modelId: 'm', status: 'ready', port: 1, url: DIRECT.url }]);
  expect(announced).toEqual([{ names: ['m'], isProbed: true }]);
  models.report([READY]);
  models.report([{ ...READY, status: 'failed' }]);
  await waitUntil(() => saved.length === 2);
  expect(saved[1]).toEqual([{ modelId: 'm', status: 'failed', port: 1, url: null }]);
  expect(announced.at(-1)).toEqual({ names: ['m'], isProbed: false });
});

test('a model that no longer responds at its node is located again', async () => {
  const { models, saved, located, state } = setUp();
  models.report([READY]);
  await waitUntil(() => saved.length === 1);
  models.recheck();
  state.isServing = false;
  located.push(THROUGH);
  models.recheck();
  await waitUntil(() => {
    models.recheck();
    return saved.length > 1;
  });
  expect(saved.at(-1)).toMatchObject([{ url: THROUGH.url }]);
});

test('a model that did not respond at first is routable as soon as it does', async () => {
  const { models, saved, located, announced, state } = setUp();
  located.push({ ...DIRECT, isUnresponsive: true });
  state.isServing = false;
  models.report([READY]);
  await waitUntil(() => saved.length === 1);
  expect(announced).toEqual([{ names: ['m'], isProbed: false }]);
  located.push(DIRECT);
  state.isServing = true;
  await waitUntil(() => {
    models.recheck();
    return announced.length > 1;
  });
  expect(announced.at(-1)).toEqual({ names: ['m'], isProbed: true });
});

test('a report that could not be stored is stored with the next report', async () => {
  const { models, saved, state } = setUp();
  state.isStoreDown = true;
  models.report([READY]);
  await waitUntil(() => {
    models.report([READY]);
    state.isStoreDown = false;
    return saved.length === 1;
  });
});

test('a connection that lost its node calls onLost', async () => {
  const { models, state } = setUp();
  state.isOwned = false;
  models.report([READY]);
  await waitUntil(() => state.lost === 1);
});
