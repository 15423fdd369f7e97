import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAccountEvents, createKeys } from '@model-gateway/accounts';
import { createBus } from '@model-gateway/bus';
import { backendListSchema } from '@model-gateway/contracts';
import { createDatabase } from '@model-gateway/db';
import { newId, silentLog, systemClock } from '@model-gateway/kernel';
import {
  createTestDatabase,
  startProcess,
  testRedisUrl,
  uniquePrefix,
  type TestProcess,
} from '@model-gateway/testkit';
import { admin, liftTier } from './gateway.ts';

/** Real gateway processes on one Redis and one Postgres. */
export interface GatewayProcesses {
  start(): Promise<TestProcess>;
  chat(gateway: TestProcess, model?: string, fields?: object): Promise<Response>;
  /** Ends the processes and removes their stores. */
  close(): Promise<void>;
}

const ADMIN_TOKEN = 'the admin token of the tests';

export async function createGatewayProcesses(
  settings: Readonly<Record<string, string>>,
): Promise<GatewayProcesses> {
  const database = await createTestDatabase();
  const dataDir = await mkdtemp(join(tmpdir(), 'model-gateway-processes-'));
  const key = await makeKey(database.url, dataDir);
  const started: TestProcess[] = [];
  const env = {
    DATABASE_URL: database.url,
    REDIS_URL: testRedisUrl(),
    SERVICE_REDIS_PREFIX: uniquePrefix(),
    SERVICE_DATA_DIR: dataDir,
    SERVICE_ADMIN_TOKEN: ADMIN_TOKEN,
    SERVICE_API_RATE_LIMIT_RPM: '100000',
    ...settings,
  };
  return {
    async start() {
      const gateway = await startProcess({ app: 'gateway', env });
      started.push(gateway);
      return gateway;
    },
    chat: ({ url }, model = 'm', fields = {}) =>
      fetch(`${url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}` },
        body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi' }], ...fields }),
      }),
    async close() {
      await Promise.all(started.map((gateway) => gateway.stop()));
      await database.drop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** The backends in the list of a process. */
export async function backendsOf(gateway: Pick<TestProcess, 'url'>) {
  const response = await admin(gateway, 'GET', 'backends');
  return backendListSchema.parse(await response.json()).backends.health;
}

/** The health and the circuit of one backend in the list of a process. */
export async function stateOf(gateway: Pick<TestProcess, 'url'>, name: string): Promise<string> {
  const found = (await backendsOf(gateway)).find((backend) => backend.name === name);
  return found === undefined ? 'none' : `${found.state}, ${found.circuit}`;
}

async function makeKey(databaseUrl: string, dataDir: string): Promise<string> {
  const database = createDatabase({ databaseUrl, log: silentLog });
  const { users, keys } = database;
  await liftTier(database);
  const { channels, counters } = createBus({ dataDir, log: silentLog });
  const events = createAccountEvents({ channels, counters, log: silentLog });
  const owner = { email: 'owner@example.com', name: 'Owner', passwordHash: 'not used' };
  const { id: userId } = await users.create({ id: newId(), ...owner });
  const { secret } = await createKeys({
    keys,
    events,
    clock: systemClock,
    activePerUserMax: 1_000,
  }).create({
    userId,
    name: 'test',
  });
  await database.close();
  return secret;
}
