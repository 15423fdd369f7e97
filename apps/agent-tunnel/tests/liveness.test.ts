import { setTimeout as sleep } from 'node:timers/promises';
import { newId } from '@model-gateway/kernel';
import { agentAliveKey, serveTunnelProcess, type NodeConnection } from '@model-gateway/router';
import { waitUntil } from '@model-gateway/testkit';
import { startChatUpstream, type RunningChatUpstream } from '@model-gateway/testkit/upstreams';
import { deployOn, startScene, type Scene } from './scene.ts';
import { connectAgent } from './simulated-agent.ts';

let scene: Scene;
let upstream: RunningChatUpstream;

const TIMEOUT_MS = 6_000;
const BETWEEN_LOOKS_MS = 100;

beforeAll(async () => {
  scene = await startScene({
    SERVICE_AGENT_HEARTBEAT_SECS: '1',
    SERVICE_AGENT_TIMEOUT_SECS: String(TIMEOUT_MS / 1_000),
  });
  upstream = await startChatUpstream({ models: ['m'] });
});
afterAll(async () => {
  await upstream.close();
  await scene.close();
});

const ready = () => ({ models: [{ model_id: 'm', status: 'ready', port: upstream.port }] });
const claimOf = (node: NodeConnection, at: Date) => ({
  ...node,
  version: '1',
  host: '127.0.0.1',
  gpus: [],
  gpuUtilization: null,
  at,
  modelIds: [],
});
const isOnline = async (agentId: string) => (await scene.agent(agentId)).online;
const canChat = async () => (await scene.chat('m')).status === 200;
const isUnknown = async () => (await scene.chat('m')).status === 404;

test('the welcome contains the heartbeat interval', async () => {
  const { agent_id, token } = await scene.register('asks');
  const agent = await connectAgent(scene.tunnelUrl, token);
  expect(agent.frames[0]?.result).toEqual({ agent_id, heartbeat_secs: 1 });
  agent.socket.close();
});

test('a node without heartbeats goes offline although its socket is open, and is online again when it reconnects', async () => {
  const { agent_id, token } = await scene.register('silent');
  const agent = await connectAgent(scene.tunnelUrl, token);
  await deployOn(scene, { agent, agent_id }, upstream.port);
  await waitUntil(canChat);
  const beating = setInterval(() => agent.heartbeat(ready()), 500);
  // With heartbeats it stays online for longer than the timeout.
  const watchedUntil = performance.now() + TIMEOUT_MS * 1.5;
  const seen = new Set<boolean>();
  while (performance.now() < watchedUntil) {
    seen.add(await isOnline(agent_id));
    await sleep(BETWEEN_LOOKS_MS);
  }
  expect([...seen]).toEqual([true]);
  clearInterval(beating);
  await waitUntil(async () => !(await isOnline(agent_id)));
  await waitUntil(isUnknown);
  await agent.closed;

  const again = await connectAgent(scene.tunnelUrl, token, ready());
  await waitUntil(canChat);
  expect(await isOnline(agent_id)).toBe(true);
  expect(again.frames.some(({ method }) => method === 'Agent.Deploy')).toBe(false);
  again.socket.close();
  await waitUntil(isUnknown);
});

test('a closed socket takes the node offline immediately, and a reconnect without the model does not add it again', async () => {
  const { agent_id, token } = await scene.register('closing');
  const agent = await connectAgent(scene.tunnelUrl, token);
  await deployOn(scene, { agent, agent_id }, upstream.port);
  await waitUntil(canChat);
  agent.socket.terminate();
  await waitUntil(isUnknown);
  expect(await scene.agent(agent_id)).toMatchObject({
    status: 'offline',
    models: [{ model_id: 'm' }],
  });
  const again = await connectAgent(scene.tunnelUrl, token);
  await waitUntil(async () => (await scene.agent(agent_id)).models.length === 0);
  expect(await isUnknown()).toBe(true);
  again.socket.close();
});

describe('a process that owned a node and crashed', () => {
  /** Writes the state that such a process leaves in the stores. */
  async function leaveBehind(name: string, { isAlive }: { readonly isAlive: boolean }) {
    const { database, bus } = scene.test.context;
    const { agent_id } = await scene.register(name);
    const node = { agentId: agent_id, connectionId: newId() };
    const at = new Date(Date.now() - TIMEOUT_MS - 500);
    // Alive until everything is written: the processes look for dead nodes all the time.
    await bus.entries.put(agentAliveKey(agent_id), node.connectionId, { expiresAfterMs: 600_000 });
    await database.agentConnections.claim(claimOf(node, at), { onlineSince: at });
    const url = `http://127.0.0.1:${upstream.port}`;
    const models = [{ modelId: 'm', status: 'ready', port: upstream.port, url }];
    await database.agentConnections.saveModels(node, models, { onlineSince: at, deployed: 'm' });
    await database.agentConnections.beginDeploy(node, 'n', `stream-${name}`);
    if (!isAlive) await bus.entries.remove(agentAliveKey(agent_id));
    return node;
  }

  const holderOf = async (agentId: string) =>
    (await scene.test.context.database.agents.find(agentId))?.connectionId;

  test('routing processes remove its node, and its deployments fail', async () => {
    const stream = await scene.listen('stream-died');
    const node = await leaveBehind('died', { isAlive: false });
    await waitUntil(async () => (await holderOf(node.agentId)) === null);
    await waitUntil(isUnknown);
    expect(await stream.end()).toEqual([
      {
        stream_id: 'stream-died',
        agent_id: node.agentId,
        model_id: 'n',
        status: 'failed',
        progress: 0,
        message: 'the agent disconnected',
      },
    ]);
    stream.close();
  });

  test('a node with an entry in Redis stays online although its time in the database is old', async () => {
    const alive = await leaveBehind('alive', { isAlive: true });
    const dead = await leaveBehind('dead', { isAlive: false });
    await waitUntil(async () => (await holderOf(dead.agentId)) === null);
    expect(await holderOf(alive.agentId)).toBe(alive.connectionId);
    await scene.call('agents.deregister', { agent_id: alive.agentId });
  });
});

describe('the nodes of a process that was killed go offline although their heartbeats are recent', () => {
  /** A node with a fresh heartbeat and a fresh entry, on a process that is not of this scene. */
  async function leaveBehind(name: string, processId: string) {
    const { database, bus } = scene.test.context;
    const { agent_id } = await scene.register(name);
    const node = { agentId: agent_id, connectionId: newId() };
    await bus.entries.put(agentAliveKey(agent_id), node.connectionId, { expiresAfterMs: 600_000 });
    const at = new Date(Date.now() + 600_000);
    await database.agentConnections.claim({ ...claimOf(node, at), processId }, { onlineSince: at });
    return agent_id;
  }

  test('within seconds, while those of processes that the database or the channels know stay', async () => {
    const { database, bus } = scene.test.context;
    const [killed, renewed, served] = [newId(), newId(), newId()];
    const subscription = await serveTunnelProcess(bus.requests, served);
    await database.agentConnections.renewProcess(renewed);
    // As if it had been renewed for the whole test.
    await scene.test.query(
      `UPDATE tunnel_processes SET seen_at = now() + interval '1 hour' WHERE id = '${renewed}'`,
    );
    const others = [await leaveBehind('renewed', renewed), await leaveBehind('served', served)];
    const dead = await leaveBehind('killed', killed);
    await waitUntil(async () => !(await isOnline(dead)));
    for (const other of others) expect(await isOnline(other)).toBe(true);
    await expect(scene.call('agents.deploy', { model_id: 'm', agent_id: dead })).rejects.toThrow(
      'offline',
    );
    for (const other of others) await scene.call('agents.deregister', { agent_id: other });
    await subscription.close();
  });
});

describe('a connection that lost its node notices with its next heartbeat', () => {
  test.each([
    ['deregistered', 'DELETE', 4001],
    ['taken by another', 'another', 4000],
  ])('%s', async (_what, how, code) => {
    const { agent_id, token } = await scene.register(how);
    const agent = await connectAgent(scene.tunnelUrl, token);
    const { database } = scene.test.context;
    if (how === 'DELETE') await database.agents.remove(agent_id, { onlineSince: new Date(0) });
    else
      await database.agentConnections.claim(
        claimOf({ agentId: agent_id, connectionId: newId() }, new Date()),
        { onlineSince: new Date(0) },
      );
    agent.heartbeat();
    expect(await agent.closed).toMatchObject({ code });
  });

  test('marked offline by mistake: it is claimed again, with its models', async () => {
    const { agent_id, token } = await scene.register('given-up');
    const agent = await connectAgent(scene.tunnelUrl, token);
    await deployOn(scene, { agent, agent_id }, upstream.port);
    await waitUntil(canChat);
    const { database } = scene.test.context;
    const connectionId = (await database.agents.find(agent_id))?.connectionId ?? '';
    const node = { agentId: agent_id, connectionId };
    await database.agentConnections.disconnect(node, { onlineSince: new Date(0) });
    expect(await isOnline(agent_id)).toBe(false);
    agent.heartbeat();
    await waitUntil(() => isOnline(agent_id));
    await waitUntil(async () => (await database.backendConfigs.list()).length === 1);
    expect(await canChat()).toBe(true);
    agent.socket.close();
  });
});
