import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  createTestDatabase,
  rpcCall,
  signInToProcess,
  startProcess,
  testRedisUrl,
  uniquePrefix,
  waitUntil,
  type TestDatabase,
  type TestProcess,
  watchForSecrets,
} from '@model-gateway/testkit';
import { startBalancer, type Balancer } from './balancer.ts';
import { engineCommand, type AgentRecord } from './scene.ts';
import { connectAgent } from './simulated-agent.ts';

watchForSecrets();

/** Long enough that a busy machine does not take a node for a lost one. */
const TIMEOUT_MS = 8_000;
const BETWEEN_CHATS_MS = 800;
const MODEL = 'tiny';

let database: TestDatabase;
let folder = '';
let env: Record<string, string> = {};
let balancer: Balancer;
/** The proxy to the database. */
let line: Balancer;
let databasePort = 0;
let gateway: TestProcess;
let rpc: TestProcess;
let daemon: TestProcess;
let token = '';
let key = '';
let agentId = '';
let agentToken = '';
const tunnels: TestProcess[] = [];

const start = (app: string): Promise<TestProcess> => startProcess({ app, env });

async function startTunnel(): Promise<void> {
  tunnels.push(await start('agent-tunnel'));
  balancer.targets = tunnels.map(({ port }) => port);
}

/** The engines are not at the reported address, so every request goes through the tunnel. */
async function startDaemon(): Promise<TestProcess> {
  return startProcess({
    app: 'gpu-agent',
    args: ['--url', balancer.url, '--config', join(folder, 'engines.json'), '--host', '127.0.0.2'],
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', AGENT_TOKEN: agentToken },
    readyPath: null,
  });
}

async function call<Result>(method: string, params: unknown = {}): Promise<Result> {
  const { result, error } = await rpcCall(rpc.url, method, params, token);
  if (error !== undefined) throw new Error(error.message);
  return result as Result;
}

const agent = (): Promise<AgentRecord> => call('agents.status', { agent_id: agentId });
const chat = (): Promise<Response> =>
  fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({ model: MODEL, messages: [{ role: 'user', content: 'Hi' }] }),
  });
const canChat = async (): Promise<boolean> => (await chat()).status === 200;
const isUnknown = async (): Promise<boolean> => (await chat()).status === 404;

async function deploy(): Promise<void> {
  await call('agents.deploy', { model_id: MODEL, agent_id: agentId });
  await waitUntil(canChat, { what: 'a chat' });
}

/** The process that serves the model. */
async function engineOf(): Promise<{ readonly port: number; readonly pid: number }> {
  const port = (await agent()).models[0]?.port ?? 0;
  const [pid = 0] = (await (await fetch(`http://127.0.0.1:${port}/pids`)).json()) as number[];
  return { port, pid };
}

beforeAll(async () => {
  database = await createTestDatabase();
  const databaseUrl = new URL(database.url);
  databasePort = Number(databaseUrl.port);
  line = await startBalancer();
  line.targets = [databasePort];
  databaseUrl.port = new URL(line.url).port;
  folder = await mkdtemp(join(tmpdir(), 'agent-processes-'));
  await writeFile(
    join(folder, 'engines.json'),
    JSON.stringify({ default: { command: engineCommand(), stop_timeout_secs: 1 } }),
  );
  env = {
    DATABASE_URL: databaseUrl.href,
    REDIS_URL: testRedisUrl(),
    SERVICE_REDIS_PREFIX: uniquePrefix(),
    SERVICE_DATA_DIR: folder,
    SERVICE_AGENT_HEARTBEAT_SECS: '1',
    SERVICE_AGENT_TIMEOUT_SECS: String(TIMEOUT_MS / 1_000),
    SERVICE_API_RATE_LIMIT_RPM: '100000',
    SERVICE_ADMIN_TOKEN: 'admin',
  };
  balancer = await startBalancer();
  [rpc] = await Promise.all([start('rpc'), startTunnel()]);
  token = await signInToProcess(rpc, database.url, 'a@example.com');
  const unlimited = { name: 'free', monthly_usd_quota: null, monthly_token_quota: null, rpm: null };
  await rpcCall(rpc.url, 'billing.tiers.set', unlimited, 'admin');
  key = (await call<{ key: string }>('keys.create', { name: 'k' })).key;
  const registered = await call<{ agent_id: string; token: string }>('agents.register', {
    machine_name: 'node',
    version: '1',
    hosts: ['127.0.0.2'],
  });
  ({ agent_id: agentId, token: agentToken } = registered);
  daemon = await startDaemon();
  await waitUntil(async () => (await agent()).online);
  await call('agents.deploy', { model_id: MODEL, agent_id: agentId });
  await waitUntil(async () => (await agent()).models[0]?.status === 'ready');
  gateway = await start('gateway');
});
afterAll(async () => {
  await Promise.all([daemon, gateway, rpc, ...tunnels].map((running) => running.stop()));
  await balancer.close();
  await line.close();
  await database.drop();
  await rm(folder, { recursive: true, force: true });
});

test('a gateway that starts after the deployment routes to the node', async () => {
  await waitUntil(canChat);
});

test('a second connection on another replica replaces the first, and deregistering reaches that replica', async () => {
  await startTunnel();
  const [one, two] = tunnels;
  const { agent_id, token: second } = await call<{ agent_id: string; token: string }>(
    'agents.register',
    { machine_name: 'twice', version: '1' },
  );
  const first = await connectAgent(one?.url ?? '', second);
  const replacing = await connectAgent(two?.url ?? '', second);
  expect(await first.closed).toMatchObject({ code: 4000 });
  await call('agents.deregister', { agent_id });
  expect(await replacing.closed).toMatchObject({ code: 4001 });
});

test('when the replica with the connection is killed, the node reconnects to another one, with the same engine', async () => {
  const before = await engineOf();
  await tunnels.shift()?.kill();
  await waitUntil(canChat);
  expect(await agent()).toMatchObject({ status: 'online' });
  expect(await engineOf()).toEqual(before);
  // Commands reach the replica with the current connection: deploying again changes nothing.
  await deploy();
  expect(await engineOf()).toEqual(before);
});

test('a replica that stops cleanly closes the connection, and the node reconnects immediately', async () => {
  const before = await engineOf();
  await startTunnel();
  expect(await tunnels.shift()?.stop()).toBe(0);
  await waitUntil(canChat);
  expect(await engineOf()).toEqual(before);
});

test('a node behind a cut network goes offline in time, and is online again when the network is restored', async () => {
  const before = await engineOf();
  balancer.cut();
  await waitUntil(isUnknown);
  expect(await agent()).toMatchObject({ status: 'offline' });
  balancer.restore();
  await waitUntil(canChat, { what: 'the node being online again' });
  expect(await engineOf()).toEqual(before);
});

test('an outage of the database takes no node offline, however long it lasts', async () => {
  const before = await engineOf();
  line.targets = [];
  line.hangUp();
  const outageUntil = performance.now() + TIMEOUT_MS * 2;
  const statuses = new Set<number>();
  while (performance.now() < outageUntil) {
    statuses.add((await chat()).status);
    await sleep(BETWEEN_CHATS_MS);
  }
  expect([...statuses]).toEqual([200]);
  line.targets = [databasePort];
  await waitUntil(async () => (await agent()).online);
  expect((await chat()).status).toBe(200);
  expect(await engineOf()).toEqual(before);
});

test('a killed daemon goes offline immediately with its engine, and starts again without models', async () => {
  const { port } = await engineOf();
  await daemon.kill();
  await waitUntil(isUnknown);
  expect(await agent()).toMatchObject({ status: 'offline' });
  await waitUntil(() =>
    fetch(`http://127.0.0.1:${port}/pids`).then(
      () => false,
      () => true,
    ),
  );
  daemon = await startDaemon();
  await waitUntil(async () => (await agent()).online);
  expect((await agent()).models).toEqual([]);
  await deploy();
});

test('without any replica the node is removed from routing in time, and listed as offline', async () => {
  for (const tunnel of tunnels.splice(0)) await tunnel.kill();
  await waitUntil(isUnknown);
  expect(await agent()).toMatchObject({ status: 'offline', models: [{ model_id: MODEL }] });
  await startTunnel();
  await waitUntil(canChat, { what: 'the node being online again' });
});
