import { newId, sha256Hex } from '@model-gateway/kernel';
import type { ReachableModel } from '@model-gateway/router';
import { openTestDatabase, type OpenedDatabase } from '../../tests/test-database.ts';

let database: OpenedDatabase;
beforeEach(async () => {
  database = await openTestDatabase();
});
afterEach(() => database.close());

const AT = new Date('2026-01-01T00:00:30Z');
const SINCE = new Date('2026-01-01T00:00:00Z');
const PLACING = { onlineSince: SINCE };

async function register(name: string): Promise<string> {
  const { id } = await database.agents.register({ name, version: '1', tokenHash: sha256Hex(name) });
  return id;
}

async function connect(agentId: string, modelIds: readonly string[] = []) {
  const node = { agentId, connectionId: newId() };
  const claimed = await database.agentConnections.claim(
    {
      ...node,
      version: '2',
      host: '10.0.0.1',
      gpus: [],
      gpuUtilization: null,
      at: AT,
      modelIds,
    },
    PLACING,
  );
  return { node, claimed };
}

const ready = (modelId: string, url: string | null = 'http://10.0.0.1:9000'): ReachableModel => ({
  modelId,
  status: 'ready',
  port: 9000,
  url,
});

const backends = async () =>
  (await database.backendConfigs.list()).map(({ name, url }) => `${name} ${url}`);

test('a registered node is found by its token, listed by name and offline until it connects', async () => {
  const [second, first] = [await register('b'), await register('a')];
  expect(await database.agentConnections.authenticate(sha256Hex('a'))).toBe(first);
  expect(await database.agentConnections.authenticate(sha256Hex('c'))).toBeUndefined();
  expect(await database.agents.list()).toMatchObject([
    { id: first, name: 'a', connectionId: null, lastHeartbeatAt: null, models: [], gpus: [] },
    { id: second, name: 'b' },
  ]);
  expect(await database.agents.find(newId())).toBeUndefined();
});

test('a connection takes the node over from the one before, which then can do nothing', async () => {
  const agentId = await register('node');
  const first = await connect(agentId);
  expect(first.claimed).toEqual({ previous: null, deploys: [], backends: [] });
  expect(await database.agentConnections.beginDeploy(first.node, 'm', 's1')).toBe(true);
  expect(await database.agentConnections.beginDeploy(first.node, 'm', 's2')).toBe(true);

  const second = await connect(agentId);
  expect(second.claimed).toEqual({
    previous: first.node.connectionId,
    deploys: [{ agentId, modelId: 'm', streams: ['s1', 's2'] }],
    backends: [],
  });
  expect(await database.agentConnections.disconnect(first.node, PLACING)).toBeUndefined();
  expect(
    await database.agentConnections.saveModels(first.node, [ready('m')], PLACING),
  ).toBeUndefined();
  expect(await database.agentConnections.beginDeploy(first.node, 'm', 's3')).toBe(false);
  const heartbeats = [first.node, second.node].map((node) => ({
    ...node,
    gpus: [{ name: 'L4', memoryTotalMb: 24, memoryUsedMb: 1, utilization: 7 }],
    gpuUtilization: 7,
    at: AT,
  }));
  expect([...(await database.agentConnections.recordHeartbeats(heartbeats))]).toEqual([
    second.node.connectionId,
  ]);
  expect(await database.agents.find(agentId)).toMatchObject({
    gpuUtilization: 7,
    gpus: [{ name: 'L4', memoryTotalMb: 24, memoryUsedMb: 1, utilization: 7 }],
    version: '2',
    host: '10.0.0.1',
  });
  expect(await connect(newId())).toMatchObject({ claimed: undefined });
});

test('the backend of a model comes with it, moves with it and goes with it', async () => {
  const { node } = await connect(await register('node'));
  const { agentConnections } = database;
  expect(await agentConnections.saveModels(node, [ready('m'), ready('n', null)], PLACING)).toEqual([
    {
      name: 'agent-m',
      config: {
        name: 'agent-m',
        type: 'agent',
        url: 'http://10.0.0.1:9000',
        apiKey: null,
        models: ['m'],
        capabilities: null,
      },
    },
  ]);
  expect(await agentConnections.saveModels(node, [ready('m')], PLACING)).toEqual([]);
  expect(await backends()).toEqual(['agent-m http://10.0.0.1:9000']);
  expect(
    await agentConnections.saveModels(node, [ready('m', 'http://10.0.0.2:1')], PLACING),
  ).toMatchObject([{ config: { url: 'http://10.0.0.2:1' } }]);
  const failed = { ...ready('m'), status: 'failed' };
  expect(await agentConnections.saveModels(node, [failed], PLACING)).toEqual([
    { name: 'agent-m', config: null },
  ]);
  expect(await backends()).toEqual([]);
});

test('models that a node lost before it connects again are removed at once, and the rest stays', async () => {
  const agentId = await register('node');
  const { node } = await connect(agentId);
  await database.agentConnections.saveModels(node, [ready('m'), ready('n')], PLACING);
  const { claimed } = await connect(agentId, ['n']);
  expect(claimed).toMatchObject({ backends: [{ name: 'agent-m', config: null }] });
  expect(await database.agents.find(agentId)).toMatchObject({ models: [{ modelId: 'n' }] });
  expect(await backends()).toEqual(['agent-n http://10.0.0.1:9000']);
});

test('of several nodes the one where the model became ready last serves, and the next one takes over', async () => {
  const { agentConnections } = database;
  const one = await connect(await register('one'));
  const two = await connect(await register('two'));
  await agentConnections.saveModels(one.node, [ready('m', 'http://one')], PLACING);
  await agentConnections.saveModels(two.node, [ready('m', 'http://two')], PLACING);
  expect(await backends()).toEqual(['agent-m http://two']);
  // A heartbeat that says the same again changes nothing; deploying there again does.
  expect(await agentConnections.saveModels(one.node, [ready('m', 'http://one')], PLACING)).toEqual(
    [],
  );
  const redeployed = { ...PLACING, redeployed: 'm' };
  await agentConnections.saveModels(one.node, [ready('m', 'http://one')], redeployed);
  expect(await backends()).toEqual(['agent-m http://one']);

  expect(await agentConnections.disconnect(one.node, PLACING)).toMatchObject({
    backends: [{ name: 'agent-m', config: { url: 'http://two' } }],
  });
  expect(await agentConnections.disconnect(two.node, PLACING)).toMatchObject({
    backends: [{ name: 'agent-m', config: null }],
  });
  expect((await database.agents.list()).map(({ connectionId }) => connectionId)).toEqual([
    null,
    null,
  ]);
});

test('a node without a recent heartbeat serves nothing', async () => {
  const { node } = await connect(await register('node'));
  const later = { onlineSince: new Date(AT.getTime() + 1) };
  expect(await database.agentConnections.saveModels(node, [ready('m')], later)).toEqual([]);
  expect(await database.agentConnections.findStale(AT)).toEqual([]);
  expect(await database.agentConnections.findStale(later.onlineSince)).toEqual([node]);
});

test('a backend that an operator registered is replaced, but never removed', async () => {
  const { node } = await connect(await register('node'));
  const own = {
    name: 'agent-m',
    type: 'external',
    url: 'http://own',
    apiKey: null,
    models: [],
    capabilities: null,
  };
  await database.backendConfigs.save(own);
  await database.agentConnections.saveModels(node, [], PLACING);
  expect(await backends()).toEqual(['agent-m http://own']);
  await database.agentConnections.saveModels(node, [ready('m')], PLACING);
  expect(await backends()).toEqual(['agent-m http://10.0.0.1:9000']);
  await database.backendConfigs.save(own);
  await database.agentConnections.disconnect(node, PLACING);
  expect(await backends()).toEqual(['agent-m http://own']);
});

test('the streams of a deployment are returned once, by the first call that ends it', async () => {
  const { agentConnections } = database;
  const agentId = await register('node');
  const { node } = await connect(agentId);
  await agentConnections.beginDeploy(node, 'm', 's1');
  // A node that does not list the model yet does not take the deployment away.
  await agentConnections.saveModels(node, [], PLACING);
  await agentConnections.beginDeploy(node, 'm', 's2');
  expect(await database.agents.find(agentId)).toMatchObject({
    models: [{ modelId: 'm', status: 'pulling', port: null }],
  });
  const ends = await Promise.all([
    agentConnections.endDeploy(agentId, 'm'),
    agentConnections.endDeploy(agentId, 'm'),
    agentConnections.disconnect(node, PLACING).then((left) => left?.deploys[0]?.streams ?? []),
  ]);
  expect(ends.flat().toSorted()).toEqual(['s1', 's2']);
});

test('a node that is forgotten leaves nothing behind, and another takes over what it served', async () => {
  const one = await connect(await register('one'));
  const two = await connect(await register('two'));
  await database.agentConnections.saveModels(two.node, [ready('m', 'http://two')], PLACING);
  await database.agentConnections.saveModels(
    one.node,
    [ready('m', 'http://one'), ready('n', 'http://one')],
    PLACING,
  );
  await database.agentConnections.beginDeploy(one.node, 'o', 's');
  const { agentId, connectionId } = one.node;
  const removed = await database.agents.remove(agentId, PLACING);
  expect(removed).toMatchObject({
    connectionId,
    deploys: [{ agentId, modelId: 'o', streams: ['s'] }],
  });
  expect(removed?.backends).toEqual(
    expect.arrayContaining([
      { name: 'agent-n', config: null },
      expect.objectContaining({
        config: expect.objectContaining({ url: 'http://two' }) as unknown,
      }),
    ]),
  );
  expect(await backends()).toEqual(['agent-m http://two']);
  expect(await database.agents.remove(agentId, PLACING)).toBeUndefined();
  expect(await database.agentConnections.authenticate(sha256Hex('one'))).toBeUndefined();
});
