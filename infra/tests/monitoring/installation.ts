import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDatabase } from '@model-gateway/db';
import { silentLog } from '@model-gateway/kernel';
import {
  createTestDatabase,
  rpcCall,
  startProcess,
  testRedisUrl,
  uniquePrefix,
  type TestProcess,
} from '@model-gateway/testkit';

/** Values that no log, trace or metric may contain. */
export const SECRETS = {
  adminToken: 'the-secret-admin-token',
  password: 'a-secret-password',
  prompt: 'a-secret-prompt',
  upstreamKey: 'a-secret-upstream-key',
};

type ServerName = 'gateway' | 'rpc' | 'video-worker' | 'agent-tunnel';

/** Every server app as a separate process, with separate stores, an account and a key. */
export interface Installation {
  readonly servers: Readonly<Record<ServerName, TestProcess>>;
  readonly token: string;
  readonly key: string;
  /** Registers a backend over the gateway. */
  register(name: string, url: string, more?: Readonly<Record<string, unknown>>): Promise<void>;
  /** Sends a request to the gateway. */
  post(path: string, body: unknown, headers?: Readonly<Record<string, string>>): Promise<Response>;
  call(method: string, params: unknown): Promise<unknown>;
  /** Stops the processes in order, so that all data is written. */
  stop(): Promise<void>;
  /** Removes the stores. */
  remove(): Promise<void>;
}

export async function startInstallation(
  env: Readonly<Record<string, string>>,
): Promise<Installation> {
  const database = await createTestDatabase();
  const dataDir = await mkdtemp(join(tmpdir(), 'model-gateway-watching-'));
  await removeTierLimits(database.url);
  const start = (app: ServerName): Promise<TestProcess> =>
    startProcess({
      app,
      readyTimeoutMs: 180_000,
      env: {
        DATABASE_URL: database.url,
        REDIS_URL: testRedisUrl(),
        SERVICE_REDIS_PREFIX: prefix,
        SERVICE_DATA_DIR: dataDir,
        SERVICE_ADMIN_TOKEN: SECRETS.adminToken,
        SERVICE_API_RATE_LIMIT_RPM: '1000000',
        ...env,
      },
    });
  const prefix = uniquePrefix();
  // The first one generates the shared secrets.
  const gateway = await start('gateway');
  const [rpc, worker, tunnel] = await Promise.all([
    start('rpc'),
    start('video-worker'),
    start('agent-tunnel'),
  ]);
  const servers = { gateway, rpc, 'video-worker': worker, 'agent-tunnel': tunnel };
  const { token, key } = await makeAccount(rpc.url);

  return {
    servers,
    token,
    key,
    async register(name, url, more = {}) {
      const { status } = await fetch(`${gateway.url}/api/admin/backends`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${SECRETS.adminToken}`,
        },
        body: JSON.stringify({
          type: 'external',
          name,
          url,
          api_key: SECRETS.upstreamKey,
          ...more,
        }),
      });
      if (status !== 200) throw new Error(`${name} was not registered: ${status}`);
    },
    post: (path, body, headers = {}) =>
      fetch(`${gateway.url}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, ...headers },
        body: JSON.stringify(body),
      }),
    async call(method, params) {
      const { result, error } = await rpcCall(rpc.url, method, params, token);
      if (error !== undefined) throw new Error(`${method}: ${error.message}`);
      return result;
    },
    async stop() {
      for (const server of [rpc, gateway, tunnel, worker]) await server.stop();
    },
    async remove() {
      await database.drop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

async function makeAccount(rpcUrl: string): Promise<{ token: string; key: string }> {
  const account = { email: 'owner@example.com', password: SECRETS.password };
  const registered = await rpcCall(rpcUrl, 'auth.register', account);
  const { access_token: token } = registered.result as { access_token: string };
  const created = await rpcCall(rpcUrl, 'keys.create', { name: 'test' }, token);
  const { key } = created.result as { key: string };
  return { token, key };
}

async function removeTierLimits(databaseUrl: string): Promise<void> {
  const database = createDatabase({ databaseUrl, log: silentLog });
  const unlimited = { monthlyUsdQuota: null, monthlyTokenQuota: null, rpm: null };
  await database.plans.saveTier('free', unlimited);
  await database.close();
}

/** The body of a chat request with one user message. */
export const chatBody = (model: string, more: object = {}) => ({
  model,
  messages: [{ role: 'user', content: SECRETS.prompt }],
  ...more,
});
