import { createTestAccount, rpcCall, waitUntil } from '@model-gateway/testkit';
import { startChatUpstream, type RunningChatUpstream } from '@model-gateway/testkit/upstreams';
import { deployOn, startScene, type Scene } from './scene.ts';
import { connectAgent, type SimulatedAgent } from './simulated-agent.ts';

let scene: Scene;
let upstream: RunningChatUpstream;
const open: SimulatedAgent[] = [];

beforeAll(async () => {
  scene = await startScene();
  upstream = await startChatUpstream({ models: ['m', 'n'] });
});
afterEach(async () => {
  for (const agent of open.splice(0)) agent.socket.close();
  for (const { id } of await scene.call<{ id: string }[]>('agents.list'))
    await scene.call('agents.deregister', { agent_id: id });
});
afterAll(async () => {
  await upstream.close();
  await scene.close();
});

async function connect(name: string, hello: Parameters<typeof connectAgent>[2] = {}) {
  const hosts = hello.host === undefined ? [] : [hello.host];
  const { agent_id, token } = await scene.register(name, hosts);
  const agent = await connectAgent(scene.tunnelUrl, token, hello);
  open.push(agent);
  return { agent, agent_id, token };
}

async function deploy(params: { model_id: string; agent_id?: string }) {
  const { stream_id } = await scene.call<{ stream_id: string }>('agents.deploy', params);
  return { stream_id, stream: await scene.listen(stream_id) };
}

const gpu = (utilization: number) => [
  { name: 'L4', memory_total_mb: 24_000, memory_used_mb: 1_000, utilization },
];
const ready = (model_id = 'm') => ({ model_id, status: 'ready', port: upstream.port });
const backendUrls = async () =>
  (await scene.test.context.database.backendConfigs.list()).map(
    ({ name, url }) => `${name} ${url}`,
  );

test('only admins manage nodes', async () => {
  const { token } = await createTestAccount(scene.test.context, 'member@example.com');
  expect((await rpcCall(scene.rpcUrl, 'agents.list', {})).error?.code).toBe(-32_005);
  expect((await rpcCall(scene.rpcUrl, 'agents.list', {}, token)).error?.code).toBe(-32_007);
});

test.each([
  [
    'no node is online',
    'agents.deploy',
    { model_id: 'm' },
    'no online agents available for deployment',
  ],
  [
    'the agent id is empty',
    'agents.deploy',
    { model_id: 'm', agent_id: '' },
    'no online agents available for deployment',
  ],
  [
    'the node is unknown',
    'agents.deploy',
    { model_id: 'm', agent_id: '5e5f3c1e-0000-4000-8000-000000000001' },
    'agent not found',
  ],
  [
    'the node of a stop is unknown',
    'agents.stop',
    { model_id: 'm', agent_id: '5e5f3c1e-0000-4000-8000-000000000001' },
    'agent not found',
  ],
])('-32000 when %s', async (_why, method, params, message) => {
  await scene.register('offline');
  const { error } = await rpcCall(scene.rpcUrl, method, params, scene.adminToken);
  expect(error).toEqual({ code: -32_000, message });
});

test('an offline node refuses a deployment', async () => {
  const { agent_id } = await scene.register('offline');
  for (const method of ['agents.deploy', 'agents.stop'])
    await expect(scene.call(method, { model_id: 'm', agent_id })).rejects.toThrow(
      'the agent is offline',
    );
});

test('the least loaded node is chosen: by utilization, then by models, then by name; without telemetry last', async () => {
  const busy = await connect('a-busy', { gpus: gpu(80) });
  await connect('a-unknown');
  const loaded = await connect('b-idle', { gpus: gpu(5) });
  await deployOn(scene, loaded, upstream.port, ['n']);
  loaded.agent.heartbeat({ gpus: gpu(5), models: [{ ...ready('n'), status: 'loading' }] });
  const idle = await connect('c-idle', { gpus: gpu(5) });
  const { stream } = await deploy({ model_id: 'm' });
  const { params } = await idle.agent.nextCall('Agent.Deploy');
  expect(params).toEqual({ model_id: 'm', stream_id: expect.any(String) as unknown });
  // Heartbeats change the order.
  idle.agent.heartbeat({ gpus: gpu(100) });
  await waitUntil(async () => (await scene.agent(idle.agent_id)).gpu_utilization === 100);
  const second = await deploy({ model_id: 'n' });
  await loaded.agent.nextCall('Agent.Deploy');
  expect(busy.agent.frames).toHaveLength(1);
  stream.close();
  second.stream.close();
});

test('progress is published, and the end is published once, when the model is routable', async () => {
  const { agent, agent_id } = await connect('node');
  const { stream_id, stream } = await deploy({ model_id: 'm', agent_id });
  const call = await agent.nextCall('Agent.Deploy');
  expect(call.params).toEqual({ model_id: 'm', stream_id });
  const bytes = { downloaded_bytes: 10, total_bytes: 100 };
  agent.notify('Agent.Progress', {
    stream_id,
    model_id: 'm',
    status: 'pulling',
    progress: 10,
    ...bytes,
  });
  agent.notify('Agent.Progress', { stream_id, model_id: 'm', status: 'loading', progress: 50 });
  // The status ready is ignored without the port.
  agent.notify('Agent.Progress', { stream_id, model_id: 'm', status: 'ready', progress: 100 });
  expect((await scene.agent(agent_id)).models).toEqual([
    { model_id: 'm', status: 'pulling', port: null },
  ]);
  call.respond({ result: { port: upstream.port } });
  const common = { stream_id, agent_id, model_id: 'm' };
  await stream.end();
  expect((await scene.chat('m')).status).toBe(200);
  expect(stream.notices).toEqual([
    { ...common, status: 'pulling', progress: 10, ...bytes },
    { ...common, status: 'loading', progress: 50 },
    { ...common, status: 'ready', progress: 100 },
  ]);
  expect(await backendUrls()).toEqual([`agent-m http://127.0.0.1:${upstream.port}`]);
  stream.close();
});

test('the node reports when a model is ready: one that does not respond yet is registered, and unhealthy until it does', async () => {
  const { agent, agent_id } = await connect('node');
  const { stream } = await deploy({ model_id: 'm', agent_id });
  (await agent.nextCall('Agent.Deploy')).respond({ result: { port: 1 } });
  expect((await stream.end()).at(-1)).toMatchObject({ status: 'ready', progress: 100 });
  expect(await backendUrls()).toEqual(['agent-m http://127.0.0.1:1']);
  stream.close();
});

test('a deployment fails when the model responds neither at the node nor through the tunnel', async () => {
  const { agent, agent_id } = await connect('node', { tunnel: 1 });
  const { stream } = await deploy({ model_id: 'm', agent_id });
  (await agent.nextCall('Agent.Deploy')).respond({ result: { port: 1 } });
  expect((await stream.end()).at(-1)).toMatchObject({
    status: 'failed',
    message: 'the model is ready, but it responds neither at the agent nor through the tunnel',
  });
  expect(await backendUrls()).toEqual([]);
  stream.close();
});

test('deploying the same model twice calls the node once, and both streams get the notifications', async () => {
  const { agent, agent_id } = await connect('node');
  const streams = await Promise.all([
    deploy({ model_id: 'm', agent_id }),
    deploy({ model_id: 'm', agent_id }),
  ]);
  const call = await agent.nextCall('Agent.Deploy');
  call.respond({ result: { port: upstream.port } });
  for (const { stream } of streams) {
    expect((await stream.end()).at(-1)).toMatchObject({ status: 'ready' });
    stream.close();
  }
  // It is already ready, so only the end is published.
  const again = await deploy({ model_id: 'm', agent_id });
  expect(await again.stream.end()).toMatchObject([{ status: 'ready' }]);
  again.stream.close();
  expect(agent.frames.filter(({ method }) => method === 'Agent.Deploy')).toHaveLength(1);
});

test.each<[string, (agent: SimulatedAgent, agentId: string) => Promise<unknown>, string]>([
  [
    'the node returns an error',
    async (agent) => (await agent.nextCall('Agent.Deploy')).respond({ error: 'no space left' }),
    'no space left',
  ],
  [
    'the response of the node has no port',
    async (agent) => (await agent.nextCall('Agent.Deploy')).respond({ result: { ok: true } }),
    'the response of the agent contains no port',
  ],
  [
    'the node reports a failure',
    async (agent) => {
      const { params } = await agent.nextCall('Agent.Deploy');
      const failed = { ...params, status: 'failed', progress: 0, message: 'out of memory' };
      agent.notify('Agent.Progress', failed);
    },
    'out of memory',
  ],
  [
    'the node disconnects',
    async (agent) => {
      await agent.nextCall('Agent.Deploy');
      agent.socket.terminate();
    },
    'the agent disconnected',
  ],
  [
    'the node is deregistered',
    async (agent, agent_id) => {
      await agent.nextCall('Agent.Deploy');
      await scene.call('agents.deregister', { agent_id });
    },
    'the agent was deregistered',
  ],
  [
    'it is stopped',
    async (agent, agent_id) => {
      await agent.nextCall('Agent.Deploy');
      const stopped = scene.call('agents.stop', { agent_id, model_id: 'm' });
      (await agent.nextCall('Agent.Stop')).respond({ result: { ok: true } });
      await stopped;
    },
    'the deployment was stopped',
  ],
])('a deployment fails once when %s', async (_why, happen, message) => {
  const { agent, agent_id } = await connect('node');
  const { stream_id, stream } = await deploy({ model_id: 'm', agent_id });
  await happen(agent, agent_id);
  const notices = await stream.end();
  expect(notices).toEqual([
    { stream_id, agent_id, model_id: 'm', status: 'failed', progress: 0, message },
  ]);
  expect(await backendUrls()).toEqual([]);
  stream.close();
});

test('deploying a model on another node moves it, and it does not return while that one is away', async () => {
  const one = await connect('one');
  const two = await connect('two', { host: 'localhost' });
  for (const node of [one, two]) {
    await deployOn(scene, node, upstream.port);
    node.agent.heartbeat({ models: [ready()] });
  }
  expect(await backendUrls()).toEqual([`agent-m http://localhost:${upstream.port}`]);
  two.agent.socket.close();
  await waitUntil(async () => (await backendUrls()).length === 0);
  one.agent.heartbeat({ models: [{ ...ready(), port: upstream.port + 1 }], gpu_utilization: 3 });
  one.agent.heartbeat({ models: [ready()], gpu_utilization: 4 });
  await waitUntil(async () => (await scene.agent(one.agent_id)).gpu_utilization === 4);
  expect((await scene.agent(one.agent_id)).models).toEqual([{ ...ready(), status: 'ignored' }]);
  expect(await backendUrls()).toEqual([]);
  expect((await scene.chat('m')).status).toBe(404);

  await deployOn(scene, one, upstream.port);
  expect(await backendUrls()).toEqual([`agent-m http://127.0.0.1:${upstream.port}`]);
  await waitUntil(async () => (await scene.chat('m')).status === 200);
});

test('a model is unroutable before its node stops it, and a late heartbeat does not add it again', async () => {
  const { agent, agent_id } = await connect('node');
  await deployOn(scene, { agent, agent_id }, upstream.port);
  expect(await backendUrls()).toHaveLength(1);
  const stopped = scene.call('agents.stop', { agent_id, model_id: 'm' });
  const call = await agent.nextCall('Agent.Stop');
  expect(call.params).toEqual({ model_id: 'm' });
  expect(await backendUrls()).toEqual([]);
  agent.heartbeat({ models: [ready()], gpu_utilization: 42 });
  await waitUntil(async () => (await scene.agent(agent_id)).gpu_utilization === 42);
  expect(await backendUrls()).toEqual([]);
  call.respond({ result: { ok: true } });
  expect(await stopped).toEqual({ ok: true, stream_id: null });
});

test('the audit log shows where a model was before and after it is deployed and stopped', async () => {
  const { agent, agent_id } = await connect('node');
  await deployOn(scene, { agent, agent_id }, upstream.port);
  const stopped = scene.call('agents.stop', { agent_id, model_id: 'm' });
  (await agent.nextCall('Agent.Stop')).respond({ result: { ok: true } });
  await stopped;
  const { entries } = await scene.call<{ entries: readonly unknown[] }>('audit.list', { limit: 2 });
  expect(entries).toMatchObject([
    {
      action: 'agents.stop',
      target: `agent:${agent_id}`,
      before: { model_id: 'm', status: 'ready' },
      after: { model_id: 'm', status: null },
    },
    {
      action: 'agents.deploy',
      target: 'model:m',
      before: { nodes: [] },
      after: { nodes: [{ agent_id, status: expect.any(String) }] },
    },
  ]);
});

test('a model that its node could not stop is not routable any more, and the caller gets the reason', async () => {
  const { agent, agent_id } = await connect('node');
  await deployOn(scene, { agent, agent_id }, upstream.port);
  expect(await backendUrls()).toHaveLength(1);
  const stopped = scene.call('agents.stop', { agent_id, model_id: 'm' });
  (await agent.nextCall('Agent.Stop')).respond({ error: 'it hangs' });
  await expect(stopped).rejects.toThrow('it hangs');
  agent.heartbeat({ models: [ready()] });
  const ignored = { ...ready(), status: 'ignored' };
  await waitUntil(async () => (await scene.agent(agent_id)).models[0]?.status === 'ignored');
  expect((await scene.agent(agent_id)).models).toEqual([ignored]);
  expect(await backendUrls()).toEqual([]);
});

test('an engine that exits is unroutable after the heartbeat that reports it', async () => {
  const { agent, agent_id } = await connect('node');
  await deployOn(scene, { agent, agent_id }, upstream.port);
  await waitUntil(async () => (await scene.chat('m')).status === 200);
  agent.heartbeat({ models: [{ ...ready(), status: 'failed' }] });
  await waitUntil(async () => (await scene.chat('m')).status === 404);
});

test('the status counts nodes, GPUs and ready models', async () => {
  await deployOn(scene, await connect('gpu', { gpus: gpu(1) }), upstream.port);
  const cpu = await connect('cpu', { models: [ready('o')] });
  await deployOn(scene, cpu, upstream.port, ['n']);
  await scene.register('offline');
  await waitUntil(async () => {
    const status = await scene.call<Record<string, number>>('system.status');
    return (
      status['agents_online'] === 2 && status['gpu_nodes'] === 1 && status['models_deployed'] === 2
    );
  });
});

test('a model can do what its deployment declared, and nothing else', async () => {
  const node = await connect('reranker');
  await deployOn(scene, node, upstream.port, ['m'], { capabilities: ['rerank'] });
  const rerank = (): Promise<Response> =>
    fetch(`${scene.gatewayUrl}/v1/rerank`, {
      method: 'POST',
      headers: { authorization: `Bearer ${scene.key}` },
      body: JSON.stringify({ model: 'm', query: 'a boat', documents: ['a boat', 'a tree'] }),
    });
  await waitUntil(async () => (await rerank()).status === 200);
  expect(await (await scene.chat('m')).json()).toMatchObject({ error: { code: 'backend_error' } });
  const refused = scene.call('agents.deploy', { model_id: 'm', capabilities: ['video'] });
  await expect(refused).rejects.toThrow('capabilities');
});
