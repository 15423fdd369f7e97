import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  rpcCall,
  startProcess,
  waitUntil,
  type TestProcess,
  preparedDataDir,
  type TemporaryFolder,
} from '@model-gateway/testkit';
import { startStandalone } from './standalone.ts';

const ENGINE = fileURLToPath(
  new URL('../../gpu-agent/tests/child/chat-engine.mjs', import.meta.url),
);
const MODEL = 'tiny';
const ENV = {
  SERVICE_ADMIN_TOKEN: 'admin',
  SERVICE_API_RATE_LIMIT_RPM: '100000',
  SERVICE_DEMO: '0',
};

let folder: TemporaryFolder;
let standalone: TestProcess;
let daemon: TestProcess;
let token = '';
let key = '';
let agent: { agent_id: string; token: string };

async function call<Result>(method: string, params: unknown = {}): Promise<Result> {
  const { result, error } = await rpcCall(standalone.url, method, params, token);
  if (error !== undefined) throw new Error(error.message);
  return result as Result;
}

const status = () =>
  call<{ online: boolean; models: { status: string }[] }>('agents.status', {
    agent_id: agent.agent_id,
  });

async function chat(model = MODEL): Promise<{ status: number; backend: string | null }> {
  const response = await fetch(`${standalone.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi' }] }),
  });
  await response.arrayBuffer();
  return { status: response.status, backend: response.headers.get('x-service-backend') };
}

const startDaemon = (): Promise<TestProcess> =>
  startProcess({
    app: 'gpu-agent',
    // As if behind NAT: everything goes through the one port of the service.
    args: [
      '--url',
      standalone.url,
      '--config',
      join(folder.path, 'engines.json'),
      '--host',
      '127.0.0.2',
    ],
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', AGENT_TOKEN: agent.token },
    readyPath: null,
  });

beforeAll(async () => {
  folder = await preparedDataDir();
  const listening = ['--model', '{id}', '--host', '{host}', '--port', '{port}'];
  const command = [process.execPath, ENGINE, ...listening];
  await writeFile(join(folder.path, 'engines.json'), JSON.stringify({ default: { command } }));
  standalone = await startStandalone(folder.path, ENV);
  const account = { email: 'a@example.com', password: 'long enough' };
  const { result } = await rpcCall(standalone.url, 'auth.register', account);
  token = (result as { access_token: string }).access_token;
  const unlimited = { name: 'free', monthly_usd_quota: null, monthly_token_quota: null, rpm: null };
  await rpcCall(standalone.url, 'billing.tiers.set', unlimited, 'admin');
  key = (await call<{ key: string }>('keys.create', { name: 'k' })).key;
  agent = await call('agents.register', {
    machine_name: 'this machine',
    version: '1',
    hosts: ['127.0.0.2'],
  });
  daemon = await startDaemon();
});
afterAll(async () => {
  await daemon.stop();
  await standalone.stop();
  await folder.remove();
});

test('without the demo backend there is no demo model', async () => {
  expect(await chat('demo-chat')).toMatchObject({ status: 404 });
});

test('a node connects to the one port, and a model deployed on it is served through the tunnel', async () => {
  await waitUntil(async () => (await status()).online);
  await call('agents.deploy', { model_id: MODEL });
  await waitUntil(async () => (await chat()).status === 200, { what: 'a chat' });
  expect(await chat()).toEqual({ status: 200, backend: `agent-${MODEL}` });
  expect(await call('system.status')).toMatchObject({ agents_online: 1, gpu_nodes: 0 });
});

test('after a restart the node is listed, and its model is available without a new deployment', async () => {
  const { port } = standalone;
  expect(await standalone.stop()).toBe(0);
  standalone = await startStandalone(folder.path, ENV, port);
  expect(await call('agents.list')).toMatchObject([{ name: 'this machine' }]);
  await waitUntil(async () => (await chat()).status === 200, { what: 'a chat' });
  expect((await status()).models).toMatchObject([{ model_id: MODEL, status: 'ready' }]);
});

test('when the service and the node were killed, the next start lists the node as offline at once', async () => {
  const { port } = standalone;
  await Promise.all([standalone.kill(), daemon.kill()]);
  standalone = await startStandalone(
    folder.path,
    { ...ENV, SERVICE_AGENT_TIMEOUT_SECS: '3600' },
    port,
  );
  expect(await status()).toMatchObject({ online: false });
  expect(await chat()).toMatchObject({ status: 404 });
  await expect(call('agents.deploy', { model_id: MODEL })).rejects.toThrow('no online agents');
  daemon = await startDaemon();
  await waitUntil(async () => (await status()).online, { what: 'the node being online again' });
});
