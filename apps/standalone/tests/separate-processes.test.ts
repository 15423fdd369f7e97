import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createTestDatabase,
  rpcCall,
  startProcess,
  testRedisUrl,
  uniquePrefix,
  type TestDatabase,
  type TestProcess,
} from '@model-gateway/testkit';
import { startChatUpstream, type RunningChatUpstream } from '@model-gateway/testkit/upstreams';
import { chat, usageRows } from './standalone.ts';

const ADMIN_TOKEN = 'an admin token';
const APPS = ['gateway', 'rpc', 'video-worker', 'agent-tunnel'] as const;

let database: TestDatabase;
let dataDir = '';
let upstream: RunningChatUpstream;
const processes = new Map<string, TestProcess>();

beforeAll(async () => {
  database = await createTestDatabase();
  dataDir = await mkdtemp(join(tmpdir(), 'model-gateway-separate-'));
  upstream = await startChatUpstream({ models: ['demo-chat'] });
  const env = {
    DATABASE_URL: database.url,
    REDIS_URL: testRedisUrl(),
    SERVICE_REDIS_PREFIX: uniquePrefix(),
    SERVICE_DATA_DIR: dataDir,
    SERVICE_ADMIN_TOKEN: ADMIN_TOKEN,
  };
  await Promise.all(
    APPS.map(async (app) => {
      processes.set(app, await startProcess({ app, env }));
    }),
  );
});
afterAll(async () => {
  await Promise.all([...processes.values()].map((running) => running.stop()));
  await upstream.close();
  await database.drop();
  await rm(dataDir, { recursive: true, force: true });
});

function urlOf(app: (typeof APPS)[number]): string {
  return processes.get(app)?.url ?? '';
}

test.each(APPS)('%s serves its probes and metrics', async (app) => {
  for (const path of ['/healthz', '/readyz']) {
    const response = await fetch(`${urlOf(app)}${path}`);
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({
      status: 'ok',
      checks: { postgres: 'ok', redis: 'ok' },
    });
  }
  const metrics = await (await fetch(`${urlOf(app)}/metrics`)).text();
  expect(metrics).toContain('process_resident_memory_bytes');
});

test('a request served by the gateway is recorded by the worker and listed by rpc', async () => {
  const registered = await fetch(`${urlOf('gateway')}/api/admin/backends`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
    body: JSON.stringify({ type: 'external', name: 'up', url: upstream.url }),
  });
  expect(registered.status).toBe(200);
  const { token, key } = await account();
  expect((await chat(urlOf('gateway'), key)).status).toBe(200);
  expect(await usageRows(urlOf('rpc'), token, 1)).toMatchObject([
    { model: 'demo-chat', backend: 'gateway' },
  ]);
});

async function account() {
  const registered = await rpcCall(urlOf('rpc'), 'auth.register', {
    email: 'a@example.com',
    password: 'long enough',
  });
  const { access_token: token } = registered.result as { access_token: string };
  const created = await rpcCall(urlOf('rpc'), 'keys.create', { name: 'test' }, token);
  return { token, key: (created.result as { key: string }).key };
}

test('SIGTERM ends each process with 0', async () => {
  for (const app of APPS) {
    expect(await processes.get(app)?.stop()).toBe(0);
  }
});
