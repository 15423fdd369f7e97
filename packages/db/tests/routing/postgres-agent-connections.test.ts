import { newId, sha256Hex } from '@model-gateway/kernel';
import type { NodeConnection, ReachableModel } from '@model-gateway/router';
import { openTestDatabase, type OpenedDatabase } from '../test-database.ts';

let database: OpenedDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterEach(() => database.raw.query('DELETE FROM agent_nodes; DELETE FROM backend_configs'));
afterAll(() => database.close());

const AT = new Date('2026-01-01T00:00:30Z');
const SINCE = new Date('2026-01-01T00:00:00Z');
const PLACING = { onlineSince: SINCE };

async function register(name: string): Promise<string> {
  const tokenHash = sha256Hex(name);
  const node = { name, version: '1', tokenHash, hosts: [`${name}.lan`] };
  return (await database.agents.register(node)).id;
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

const saved = (
  node: NodeConnection,
  models: readonly ReachableModel[],
  change: { readonly deployed?: string | undefined; readonly stopped?: string } = {},
) => database.agentConnections.saveModels(node, models, { ...PLACING, ...change });

/** The backends that storing the models of a node has changed. */
const save = async (...args: Parameters<typeof saved>) => (await saved(...args))?.backends;

/** Stores the models of a node and deploys the last one. */
const deploy = (node: NodeConnection, ...models: readonly ReachableModel[]) =>
  save(node, models, { deployed: models.at(-1)?.modelId });

const backends = async () =>
  (await database.backendConfigs.list()).map(({ name, url }) => `${name} ${url}`);

test('a registered node is found by its token, listed by name and offline until it connects', async () => {
  const [second, first] = [await register('b'), await register('a')];
  expect(await database.agentConnections.authenticate(sha256Hex('a'))).toEqual({
    agentId: first,
    hosts: ['a.lan'],
  });
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
  expect(first.claimed).toEqual({
    previous: null,
    deployed: [],
    deploys: [],
    backends: [],
  });
  expect(await database.agentConnections.beginDeploy(first.node, 'm', 's1')).toBe('begun');
  expect(await database.agentConnections.beginDeploy(first.node, 'm', 's2')).toBe('begun');

  const second = await connect(agentId);
  expect(second.claimed).toEqual({
    previous: first.node.connectionId,
    deployed: [],
    deploys: [{ agentId, modelId: 'm', streams: ['s1', 's2'] }],
    backends: [],
  });
  expect(await database.agentConnections.disconnect(first.node, PLACING)).toBeUndefined();
  expect(await save(first.node, [ready('m')])).toBeUndefined();
  expect(await database.agentConnections.beginDeploy(first.node, 'm', 's3')).toBe('offline');
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
  expect(await deploy(node, ready('n', null), ready('m'))).toEqual([
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
  expect(await save(node, [ready('m')])).toEqual([]);
  expect(await backends()).toEqual(['agent-m http://10.0.0.1:9000']);
  expect(await save(node, [ready('m', 'http://10.0.0.2:1')])).toMatchObject([
    { config: { url: 'http://10.0.0.2:1' } },
  ]);
  const failed = { ...ready('m'), status: 'failed' };
  expect(await save(node, [failed])).toEqual([{ name: 'agent-m', config: null }]);
  expect(await backends()).toEqual([]);
});

test('the backend of a model has the capabilities that were declared, also when they change', async () => {
  const { node } = await connect(await register('node'));
  await database.agents.declareCapabilities('m', ['rerank', 'speech']);
  expect(await deploy(node, ready('m'))).toMatchObject([
    { config: { capabilities: ['rerank', 'speech'] } },
  ]);
  expect(await deploy(node, ready('m'))).toEqual([]);
  await database.agents.declareCapabilities('m', ['chat']);
  expect(await deploy(node, ready('m'))).toMatchObject([{ config: { capabilities: ['chat'] } }]);
  expect(await database.backendConfigs.list()).toMatchObject([{ capabilities: ['chat'] }]);
  await database.raw.query('DELETE FROM agent_model_settings');
});

test('models that a node lost before it connects again are removed at once, and the rest stays', async () => {
  const agentId = await register('node');
  const { node } = await connect(agentId);
  await deploy(node, ready('m'));
  await deploy(node, ready('m'), ready('n'));
  const { claimed } = await connect(agentId, ['n']);
  expect(claimed).toMatchObject({ backends: [{ name: 'agent-m', config: null }] });
  expect(claimed?.deployed.toSorted()).toEqual(['m', 'n']);
  expect(await database.agents.find(agentId)).toMatchObject({ models: [{ modelId: 'n' }] });
  expect(await backends()).toEqual(['agent-n http://10.0.0.1:9000']);
});

test('a model that was not deployed on the node has no backend, and neither has one that was stopped', async () => {
  const agentId = await register('node');
  const { node } = await connect(agentId);
  expect(await save(node, [ready('m')])).toEqual([]);
  expect(await deploy(node, ready('m'))).toMatchObject([{ name: 'agent-m' }]);
  expect(await save(node, [], { stopped: 'm' })).toEqual([{ name: 'agent-m', config: null }]);
  expect(await save(node, [ready('m')])).toEqual([]);
  expect((await connect(agentId)).claimed?.deployed).toEqual([]);
});

test('a deployed model that its node lost and reports again is served again', async () => {
  const { node } = await connect(await register('node'));
  await deploy(node, ready('m'));
  await save(node, []);
  expect(await backends()).toEqual([]);
  await save(node, [ready('m')]);
  expect(await backends()).toEqual(['agent-m http://10.0.0.1:9000']);
});

test('a deployment on another node moves the model for good: the first one does not get it back by itself', async () => {
  const { agentConnections, agents } = database;
  const [first, second] = [await register('one'), await register('two')];
  const one = await connect(first);
  const two = await connect(second);
  await deploy(one.node, ready('m', 'http://one'));
  await deploy(two.node, ready('m', 'http://two'));
  expect(await backends()).toEqual(['agent-m http://two']);
  expect(await agents.find(first)).toMatchObject({ models: [{ status: 'ignored' }] });
  expect(await agents.find(second)).toMatchObject({ models: [{ status: 'ready' }] });
  // Whatever the node reports changes nothing, also while the other one is away, or after it was stopped or deregistered there.
  const failed = { ...ready('m', null), status: 'failed' };
  const expectNothing = async () => {
    for (const reported of [failed, ready('m', 'http://one')])
      expect(await saved(one.node, [reported])).toEqual({ backends: [], deployed: [] });
  };
  await expectNothing();
  const withdrawn = [{ name: 'agent-m', config: null }];
  expect(await agentConnections.disconnect(two.node, PLACING)).toMatchObject({
    backends: withdrawn,
  });
  await expectNothing();
  const returned = await connect(second, ['m']);
  expect(returned.claimed).toMatchObject({ deployed: ['m'] });
  expect(await saved(returned.node, [ready('m', 'http://two')])).toMatchObject({
    backends: [{ config: { url: 'http://two' } }],
  });
  expect(await saved(returned.node, [], { stopped: 'm' })).toMatchObject({ backends: withdrawn });
  await expectNothing();
  await deploy(returned.node, ready('m', 'http://two'));
  expect(await agents.remove(second, PLACING)).toMatchObject({ backends: withdrawn });
  await expectNothing();
  expect((await connect(first)).claimed?.deployed).toEqual([]);
});

test('a model that moved away is deployed on its first node again', async () => {
  const one = await connect(await register('one'));
  const two = await connect(await register('two'));
  for (const [node, url] of [
    [one.node, 'http://one'],
    [two.node, 'http://two'],
    [one.node, 'http://one'],
  ] as const) {
    await deploy(node, ready('m', url));
    expect(await backends()).toEqual([`agent-m ${url}`]);
  }
  // The node without it can end: the one that serves it is not affected.
  expect(await database.agentConnections.disconnect(two.node, PLACING)).toMatchObject({
    backends: [],
  });
  expect(await backends()).toEqual(['agent-m http://one']);
});

test('of two nodes on which a model is deployed at the same time one has it', async () => {
  const nodes = [await connect(await register('one')), await connect(await register('two'))];
  await Promise.all(nodes.map(({ node }, index) => deploy(node, ready('m', `http://${index}`))));
  const rows = await database.raw.query('SELECT agent_id FROM agent_deployments');
  expect(rows).toHaveLength(1);
  expect(await backends()).toHaveLength(1);
});

test('a node without a recent heartbeat serves nothing', async () => {
  const { node } = await connect(await register('node'));
  const later = { onlineSince: new Date(AT.getTime() + 1) };
  const deploying = { ...later, deployed: 'm' };
  expect(await database.agentConnections.saveModels(node, [ready('m')], deploying)).toMatchObject({
    backends: [],
  });
  expect(await database.agentConnections.findStale(AT)).toEqual([]);
  expect(await database.agentConnections.findStale(later.onlineSince)).toEqual([node]);
});

describe('the process of a connection', () => {
  const connectTo = async (processId: string | undefined) => {
    const agentId = await register(processId ?? 'earlier version');
    const node = { agentId, connectionId: newId() };
    const claim = { version: '2', host: '10.0.0.1', gpus: [], gpuUtilization: null, at: AT };
    const claimed = { ...node, ...claim, modelIds: [], ...(processId && { processId }) };
    await database.agentConnections.claim(claimed, PLACING);
    return node;
  };
  const { renewProcess, removeProcess, findSilent } = {
    renewProcess: (id: string) => database.agentConnections.renewProcess(id),
    removeProcess: (id: string) => database.agentConnections.removeProcess(id),
    findSilent: () => database.agentConnections.findSilent(60_000),
  };
  afterEach(() => database.raw.query('DELETE FROM tunnel_processes'));

  test('is silent when it was never renewed, not in time, or removed', async () => {
    const [running, late, removed, unknown] = [newId(), newId(), newId(), newId()];
    for (const id of [running, late, removed]) await renewProcess(id);
    await database.raw.query(
      `UPDATE tunnel_processes SET seen_at = now() - interval '61 seconds' WHERE id = '${late}'`,
    );
    await removeProcess(removed);
    await connectTo(running);
    await connectTo(undefined);
    const silent = await Promise.all(
      [late, removed, unknown].map(async (processId) => ({
        ...(await connectTo(processId)),
        processId,
      })),
    );
    const found = await findSilent();
    expect(found).toHaveLength(3);
    expect(found).toEqual(expect.arrayContaining(silent));
    for (const id of [late, removed, unknown]) await renewProcess(id);
    expect(await findSilent()).toEqual([]);
  });

  test('is forgotten with its connection, and a day after it was killed without one', async () => {
    const [ended, old] = [newId(), newId()];
    const node = await connectTo(ended);
    await database.agentConnections.disconnect(node, PLACING);
    expect(await findSilent()).toEqual([]);
    await renewProcess(old);
    await database.raw.query(`UPDATE tunnel_processes SET seen_at = now() - interval '2 days'`);
    await removeProcess(ended);
    expect(await database.raw.query('SELECT * FROM tunnel_processes')).toEqual([]);
  });

  test('every node with a connection is found', async () => {
    const node = await connectTo(undefined);
    await database.agentConnections.disconnect(await connectTo(newId()), PLACING);
    expect(await database.agentConnections.findConnected()).toEqual([node]);
  });
});

test('a backend that an operator registered is neither replaced nor removed, and prevents a deployment', async () => {
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
  await save(node, []);
  expect(await backends()).toEqual(['agent-m http://own']);
  expect(await database.agentConnections.beginDeploy(node, 'm', 's')).toBe('name_taken');
  expect(await deploy(node, ready('m'))).toEqual([]);
  expect(await backends()).toEqual(['agent-m http://own']);
  await database.agentConnections.disconnect(node, PLACING);
  expect(await backends()).toEqual(['agent-m http://own']);
});

test('the streams of a deployment are returned once, by the first call that ends it', async () => {
  const { agentConnections } = database;
  const agentId = await register('node');
  const { node } = await connect(agentId);
  await agentConnections.beginDeploy(node, 'm', 's1');
  // A node that does not list the model yet does not take the deployment away.
  await save(node, []);
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

test('a node that is forgotten leaves nothing behind, and another keeps what it serves', async () => {
  const one = await connect(await register('one'));
  const two = await connect(await register('two'));
  await deploy(one.node, ready('n', 'http://one'));
  await deploy(one.node, ready('n', 'http://one'), ready('m', 'http://one'));
  await deploy(two.node, ready('m', 'http://two'));
  await database.agentConnections.beginDeploy(one.node, 'o', 's');
  const { agentId, connectionId } = one.node;
  const removed = await database.agents.remove(agentId, PLACING);
  expect(removed).toMatchObject({
    connectionId,
    deploys: [{ agentId, modelId: 'o', streams: ['s'] }],
  });
  expect(removed?.backends).toEqual([{ name: 'agent-n', config: null }]);
  expect(await backends()).toEqual(['agent-m http://two']);
  expect(await database.agents.remove(agentId, PLACING)).toBeUndefined();
  expect(await database.agentConnections.authenticate(sha256Hex('one'))).toBeUndefined();
});
