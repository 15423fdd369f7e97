import { waitUntil } from '@model-gateway/testkit';
import { startChatUpstream, type RunningChatUpstream } from '@model-gateway/testkit/upstreams';
import { deployOn, startScene, type Scene } from './scene.ts';
import { connectAgent, type SimulatedAgent } from './simulated-agent.ts';

/** What a node with a valid token cannot do, each beside what it can do. */
let scene: Scene;
let engine: RunningChatUpstream;
/** A server inside the network of the gateway, at the port of the engine but at another address. */
let internal: RunningChatUpstream;
const open: SimulatedAgent[] = [];

const INTERNAL_HOST = '127.0.0.2';

beforeAll(async () => {
  scene = await startScene();
  engine = await startChatUpstream({ models: ['m', 'n'], answer: () => 'from the node' });
  internal = await startChatUpstream({
    models: ['m', 'n'],
    answer: () => 'from the internal service',
    host: INTERNAL_HOST,
    port: engine.port,
  });
});
afterEach(async () => {
  for (const agent of open.splice(0)) agent.socket.close();
  for (const { id } of await scene.call<{ id: string }[]>('agents.list'))
    await scene.call('agents.deregister', { agent_id: id });
  const { backendConfigs } = scene.test.context.database;
  for (const { name } of await backendConfigs.list()) await backendConfigs.remove(name);
});
afterAll(async () => {
  await engine.close();
  await internal.close();
  await scene.close();
});

async function connect(
  name: string,
  hello: Parameters<typeof connectAgent>[2] = {},
  hosts: readonly string[] = [],
) {
  const { agent_id, token } = await scene.register(name, hosts);
  const agent = await connectAgent(scene.tunnelUrl, token, hello);
  open.push(agent);
  return { agent, agent_id };
}

const ready = (model_id = 'm') => ({ model_id, status: 'ready', port: engine.port });
const backends = async () =>
  (await scene.test.context.database.backendConfigs.list()).map(
    ({ name, url }) => `${name} ${url}`,
  );
const statusOf = async (agentId: string) => (await scene.agent(agentId)).models;

async function answerOf(model: string): Promise<string> {
  const response = await scene.chat(model);
  const body = (await response.json()) as { choices?: { message: { content: string } }[] };
  return body.choices?.[0]?.message.content ?? String(response.status);
}

describe('a model that was not deployed on the node', () => {
  test('is listed as ignored, not called and not routable; deployed, it is served', async () => {
    const before = engine.requestCount;
    const { agent, agent_id } = await connect('claims', { models: [ready()] });
    await waitUntil(async () => (await statusOf(agent_id)).length === 1);
    expect(await statusOf(agent_id)).toEqual([{ ...ready(), status: 'ignored' }]);
    agent.heartbeat({ models: [ready(), ready('n')] });
    await waitUntil(async () => (await statusOf(agent_id)).length === 2);
    expect((await statusOf(agent_id)).map(({ status }) => status)).toEqual(['ignored', 'ignored']);
    expect(await backends()).toEqual([]);
    expect((await scene.chat('m')).status).toBe(404);
    expect(engine.requestCount).toBe(before);
    expect(await scene.call('system.status')).toMatchObject({ models_deployed: 0 });

    await deployOn(scene, { agent, agent_id }, engine.port);
    await waitUntil(async () => (await answerOf('m')) === 'from the node');
    expect(await statusOf(agent_id)).toEqual([ready(), { ...ready('n'), status: 'ignored' }]);
  });

  test('is not served after a failed deployment either', async () => {
    const { agent, agent_id } = await connect('fails', { models: [ready()] });
    const deploy = { model_id: 'm', agent_id };
    const { stream_id } = await scene.call<{ stream_id: string }>('agents.deploy', deploy);
    const stream = await scene.listen(stream_id);
    (await agent.nextCall('Agent.Deploy')).respond({ error: 'two\nlines' });
    expect((await stream.end()).at(-1)).toMatchObject({ status: 'failed', message: 'two lines' });
    stream.close();
    await waitUntil(async () => (await statusOf(agent_id))[0]?.status === 'ignored');
    expect(await backends()).toEqual([]);
  });

  test('is ignored again after it was stopped, also by the next connection', async () => {
    const { agent_id, token } = await scene.register('stopped');
    const agent = await connectAgent(scene.tunnelUrl, token);
    open.push(agent);
    await deployOn(scene, { agent, agent_id }, engine.port);
    const stopped = scene.call('agents.stop', { agent_id, model_id: 'm' });
    (await agent.nextCall('Agent.Stop')).respond({ result: { ok: true } });
    await stopped;
    agent.heartbeat({ models: [ready()] });
    await waitUntil(async () => (await statusOf(agent_id))[0]?.status === 'ignored');
    open.push(await connectAgent(scene.tunnelUrl, token, { models: [ready()] }));
    await agent.closed;
    await waitUntil(async () => (await statusOf(agent_id))[0]?.status === 'ignored');
    expect(await backends()).toEqual([]);
  });

  test('a deployed model stays deployed for the next connection of its node', async () => {
    const { agent_id, token } = await scene.register('reconnects');
    const agent = await connectAgent(scene.tunnelUrl, token);
    await deployOn(scene, { agent, agent_id }, engine.port);
    agent.socket.close();
    await waitUntil(async () => (await backends()).length === 0);
    open.push(await connectAgent(scene.tunnelUrl, token, { models: [ready()] }));
    await waitUntil(async () => (await answerOf('m')) === 'from the node');
  });
});

describe('a model that others serve', () => {
  test("a node cannot take over a model of an operator's backend, nor its name", async () => {
    const operators = await startChatUpstream({
      models: ['m'],
      answer: () => "from the operator's backend",
    });
    const own = { type: 'external', apiKey: null, models: ['m'], capabilities: null };
    const { backendConfigs } = scene.test.context.database;
    await backendConfigs.save({ ...own, name: 'agent-m', url: operators.url });
    const { agent, agent_id } = await connect('takes', { models: [ready()] });
    await waitUntil(async () => (await statusOf(agent_id)).length === 1);
    expect(await backends()).toEqual([`agent-m ${operators.url}`]);
    await expect(scene.call('agents.deploy', { model_id: 'm', agent_id })).rejects.toThrow(
      "the backend 'agent-m' was registered by an operator; remove it before you deploy the model",
    );
    await backendConfigs.remove('agent-m');
    await deployOn(scene, { agent, agent_id }, engine.port);
    expect(await backends()).toEqual([`agent-m http://127.0.0.1:${engine.port}`]);
    await operators.close();
  });

  test('a node cannot take over a model that is deployed on another; a second deployment moves it', async () => {
    const one = await connect('one');
    await deployOn(scene, one, engine.port);
    const two = await connect('two', { models: [ready()], host: INTERNAL_HOST }, [INTERNAL_HOST]);
    await waitUntil(async () => (await statusOf(two.agent_id)).length === 1);
    expect(await backends()).toEqual([`agent-m http://127.0.0.1:${engine.port}`]);

    await deployOn(scene, two, engine.port);
    expect(await backends()).toEqual([`agent-m http://${INTERNAL_HOST}:${engine.port}`]);
    // The first node reports the model as new, and does not get it back by that.
    for (const model of [{ ...ready(), port: 1 }, ready()]) {
      one.agent.heartbeat({ models: [model] });
      await waitUntil(async () => (await statusOf(one.agent_id))[0]?.port === model.port);
      expect(await statusOf(one.agent_id)).toEqual([{ ...model, status: 'ignored' }]);
    }
    expect(await backends()).toEqual([`agent-m http://${INTERNAL_HOST}:${engine.port}`]);
  });
});

describe('the address at which gateways call a node', () => {
  test('a host that the node names does not lead to an internal service', async () => {
    const before = internal.requestCount;
    const node = await connect('names', { host: INTERNAL_HOST });
    await deployOn(scene, node, engine.port);
    expect(await scene.agent(node.agent_id)).toMatchObject({ host: '127.0.0.1', hosts: [] });
    await waitUntil(async () => (await answerOf('m')) === 'from the node');
    expect(internal.requestCount).toBe(before);
  });

  test('an address in a header does not lead to an internal service', async () => {
    const before = internal.requestCount;
    const node = await connect('forwards', { headers: { 'x-forwarded-for': INTERNAL_HOST } });
    await expect(deployOn(scene, node, engine.port)).rejects.toThrow(
      'responds neither at the agent nor through the tunnel',
    );
    expect(await backends()).toEqual([]);
    expect(internal.requestCount).toBe(before);
  });

  test('a host that an admin allowed is called', async () => {
    const node = await connect('allowed', { host: INTERNAL_HOST }, ['other.lan', INTERNAL_HOST]);
    await deployOn(scene, node, engine.port);
    expect(await scene.agent(node.agent_id)).toMatchObject({
      host: INTERNAL_HOST,
      hosts: ['other.lan', INTERNAL_HOST],
    });
    await waitUntil(async () => (await answerOf('m')) === 'from the internal service');
  });

  test('a host that is no host is refused', async () => {
    for (const host of ['http://10.0.0.1', 'a b', '', '10.0.0.1/path'])
      await expect(scene.register('bad', [host])).rejects.toThrow('hosts');
    await expect(scene.register('many', Array.from({ length: 17 }, String))).rejects.toThrow(
      'hosts',
    );
  });
});
