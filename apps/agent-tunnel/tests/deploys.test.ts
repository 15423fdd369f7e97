import { rpcCall, waitUntil } from '@model-gateway/testkit';
import { startChatUpstream, type RunningChatUpstream } from '@model-gateway/testkit/upstreams';
import { startScene, type Scene } from './scene.ts';
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
  const { agent_id, token } = await scene.register(name);
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

test('nobody but an admin manages nodes', async () => {
  const { result } = await rpcCall(scene.rpcUrl, 'auth.register', {
    email: 'member@example.com',
    password: 'long enough',
  });
  const { access_token: token } = result as { access_token: string };
  expect((await rpcCall(scene.rpcUrl, 'agents.list', {})).error?.code).toBe(-32_005);
  expect((await rpcCall(scene.rpcUrl, 'agents.list', {}, token)).error?.code).toBe(-32_007);
});

test.each([
  [
    'nobody is online',
    'agents.deploy',
    { model_id: 'm' },
    'no online agents available for deployment',
  ],
  [
    'an empty name counts as none',
    'agents.deploy',
    { model_id: 'm', agent_id: '' },
    'no online agents available for deployment',
  ],
  [
    'the node is not known',
    'agents.deploy',
    { model_id: 'm', agent_id: '5e5f3c1e-0000-4000-8000-000000000001' },
    'agent not found',
  ],
  [
    'the node to stop at is not known',
    'agents.stop',
    { model_id: 'm', agent_id: '5e5f3c1e-0000-4000-8000-000000000001' },
    'agent not found',
  ],
])('-32000 when %s', async (_why, method, params, message) => {
  await scene.register('offline');
  const { error } = await rpcCall(scene.rpcUrl, method, params, scene.adminToken);
  expect(error).toEqual({ code: -32_000, message });
});

test('a node that is offline cannot be asked', async () => {
  const { agent_id } = await scene.register('offline');
  for (const method of ['agents.deploy', 'agents.stop'])
    await expect(scene.call(method, { model_id: 'm', agent_id })).rejects.toThrow(
      'the agent is offline',
    );
});

test('the least loaded node is asked: by utilization, then by models, then by name; without telemetry last', async () => {
  const busy = await connect('a-busy', { gpus: gpu(80) });
  await connect('a-unknown');
  const loaded = await connect('b-idle', {
    gpus: gpu(5),
    models: [{ ...ready('n'), status: 'loading' }],
  });
  const idle = await connect('c-idle', { gpus: gpu(5) });
  const { stream } = await deploy({ model_id: 'm' });
  const { params } = await idle.agent.nextCall('Agent.Deploy');
  expect(params).toEqual({ model_id: 'm', stream_id: expect.any(String) as unknown });
  // Heartbeats move it.
  idle.agent.heartbeat({ gpus: gpu(100) });
  await waitUntil(async () => (await scene.agent(idle.agent_id)).gpu_utilization === 100);
  const second = await deploy({ model_id: 'n' });
  await loaded.agent.nextCall('Agent.Deploy');
  expect(busy.agent.frames).toHaveLength(1);
  stream.close();
  second.stream.close();
});

test('progress is passed on, and the end comes once, when the model can be chatted with', async () => {
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
  // That it is ready counts only with the port.
  agent.notify('Agent.Progress', { stream_id, model_id: 'm', status: 'ready', progress: 100 });
  expect((await scene.agent(agent_id)).models).toEqual([
    { model_id: 'm', status: 'pulling', port: null },
  ]);
  call.answer({ result: { port: upstream.port } });
  const common = { stream_id, agent_id, model_id: 'm' };
  await stream.end();
  expect((await scene.chat('m')).status).toBe(200);
  expect(stream.heard).toEqual([
    { ...common, status: 'pulling', progress: 10, ...bytes },
    { ...common, status: 'loading', progress: 50 },
    { ...common, status: 'ready', progress: 100 },
  ]);
  expect(await backendUrls()).toEqual([`agent-m http://127.0.0.1:${upstream.port}`]);
  stream.close();
});

test('a node says itself when a model is ready: one that does not answer yet is registered, and unhealthy until it does', async () => {
  const { agent, agent_id } = await connect('node');
  const { stream } = await deploy({ model_id: 'm', agent_id });
  (await agent.nextCall('Agent.Deploy')).answer({ result: { port: 1 } });
  expect((await stream.end()).at(-1)).toMatchObject({ status: 'ready', progress: 100 });
  expect(await backendUrls()).toEqual(['agent-m http://127.0.0.1:1']);
  stream.close();
});

test('a node with a tunnel whose model answers neither at the node nor through the tunnel has failed', async () => {
  const { agent, agent_id } = await connect('node', { tunnel: 1 });
  const { stream } = await deploy({ model_id: 'm', agent_id });
  (await agent.nextCall('Agent.Deploy')).answer({ result: { port: 1 } });
  expect((await stream.end()).at(-1)).toMatchObject({
    status: 'failed',
    message: 'the model is ready, but it responds neither at the agent nor through the tunnel',
  });
  expect(await backendUrls()).toEqual([]);
  stream.close();
});

test('deploying the same model twice asks the node once, and both streams are told', async () => {
  const { agent, agent_id } = await connect('node');
  const streams = await Promise.all([
    deploy({ model_id: 'm', agent_id }),
    deploy({ model_id: 'm', agent_id }),
  ]);
  const call = await agent.nextCall('Agent.Deploy');
  call.answer({ result: { port: upstream.port } });
  for (const { stream } of streams) {
    expect((await stream.end()).at(-1)).toMatchObject({ status: 'ready' });
    stream.close();
  }
  // It is ready: nothing is left to do, and that is told too.
  const again = await deploy({ model_id: 'm', agent_id });
  expect(await again.stream.end()).toMatchObject([{ status: 'ready' }]);
  again.stream.close();
  expect(agent.frames.filter(({ method }) => method === 'Agent.Deploy')).toHaveLength(1);
});

test.each<[string, (agent: SimulatedAgent, agentId: string) => Promise<unknown>, string]>([
  [
    'the node answers with an error',
    async (agent) => (await agent.nextCall('Agent.Deploy')).answer({ error: 'no space left' }),
    'no space left',
  ],
  [
    'the node answers without a port',
    async (agent) => (await agent.nextCall('Agent.Deploy')).answer({ result: { ok: true } }),
    'the response of the agent contains no port',
  ],
  [
    'the node says that it failed',
    async (agent) => {
      const { params } = await agent.nextCall('Agent.Deploy');
      const failed = { ...params, status: 'failed', progress: 0, message: 'out of memory' };
      agent.notify('Agent.Progress', failed);
    },
    'out of memory',
  ],
  [
    'the node leaves',
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
      (await agent.nextCall('Agent.Stop')).answer({ result: { ok: true } });
      await stopped;
    },
    'the deployment was stopped',
  ],
])('a deployment has failed, once, when %s', async (_why, happen, message) => {
  const { agent, agent_id } = await connect('node');
  const { stream_id, stream } = await deploy({ model_id: 'm', agent_id });
  await happen(agent, agent_id);
  const heard = await stream.end();
  expect(heard).toEqual([
    { stream_id, agent_id, model_id: 'm', status: 'failed', progress: 0, message },
  ]);
  expect(await backendUrls()).toEqual([]);
  stream.close();
});

test('deploying a model elsewhere moves its backend, and the other node takes over again', async () => {
  const one = await connect('one');
  const two = await connect('two', { host: 'localhost' });
  for (const { agent, agent_id } of [one, two]) {
    const { stream } = await deploy({ model_id: 'm', agent_id });
    (await agent.nextCall('Agent.Deploy')).answer({ result: { port: upstream.port } });
    await stream.end();
    stream.close();
    agent.heartbeat({ models: [ready()] });
  }
  expect(await backendUrls()).toEqual([`agent-m http://localhost:${upstream.port}`]);
  const back = await deploy({ model_id: 'm', agent_id: one.agent_id });
  await back.stream.end();
  back.stream.close();
  expect(await backendUrls()).toEqual([`agent-m http://127.0.0.1:${upstream.port}`]);
  one.agent.socket.close();
  await waitUntil(
    async () => (await backendUrls())[0] === `agent-m http://localhost:${upstream.port}`,
  );
  await waitUntil(async () => (await scene.chat('m')).status === 200);
  two.agent.socket.close();
  await waitUntil(async () => (await backendUrls()).length === 0);
});

test('a model is out of service before its node is asked to stop it, and a late heartbeat does not bring it back', async () => {
  const { agent, agent_id } = await connect('node', { models: [ready()] });
  await waitUntil(async () => (await backendUrls()).length === 1);
  const stopped = scene.call('agents.stop', { agent_id, model_id: 'm' });
  const call = await agent.nextCall('Agent.Stop');
  expect(call.params).toEqual({ model_id: 'm' });
  expect(await backendUrls()).toEqual([]);
  agent.heartbeat({ models: [ready()], gpu_utilization: 42 });
  await waitUntil(async () => (await scene.agent(agent_id)).gpu_utilization === 42);
  expect(await backendUrls()).toEqual([]);
  call.answer({ result: { ok: true } });
  expect(await stopped).toEqual({ ok: true, stream_id: null });
});

test('a model that its node could not stop is back with the next heartbeat, and the caller is told why', async () => {
  const { agent, agent_id } = await connect('node', { models: [ready()] });
  await waitUntil(async () => (await backendUrls()).length === 1);
  const stopped = scene.call('agents.stop', { agent_id, model_id: 'm' });
  (await agent.nextCall('Agent.Stop')).answer({ error: 'it hangs' });
  await expect(stopped).rejects.toThrow('it hangs');
  agent.heartbeat({ models: [ready()] });
  await waitUntil(async () => (await backendUrls()).length === 1);
});

test('an engine that ends is out of service with the heartbeat that tells it', async () => {
  const { agent } = await connect('node', { models: [ready()] });
  await waitUntil(async () => (await scene.chat('m')).status === 200);
  agent.heartbeat({ models: [{ ...ready(), status: 'failed' }] });
  await waitUntil(async () => (await scene.chat('m')).status === 404);
});

test('the status counts nodes, GPUs and ready models', async () => {
  await connect('gpu', { gpus: gpu(1), models: [ready()] });
  await connect('cpu', { models: [ready('n'), { ...ready('o'), status: 'loading' }] });
  await scene.register('offline');
  await waitUntil(async () => {
    const status = await scene.call<Record<string, number>>('system.status');
    return (
      status['agents_online'] === 2 && status['gpu_nodes'] === 1 && status['models_deployed'] === 2
    );
  });
});
