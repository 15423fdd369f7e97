import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createTestDatabase,
  freePort,
  fullTable,
  startProcess,
  testRedisUrl,
  uniquePrefix,
  type TestDatabase,
} from '@model-gateway/testkit';

let database: TestDatabase;
let folder = '';

beforeAll(async () => {
  database = await createTestDatabase();
  folder = await mkdtemp(join(tmpdir(), 'model-gateway-cannot-'));
});
afterAll(async () => {
  await database.drop();
  await rm(folder, { recursive: true, force: true });
});

/** Runs a process that is expected to exit; returns its status and output. */
async function failedStart(app: string, env: Readonly<Record<string, string>>, port?: number) {
  const failed = await startProcess({
    app,
    readyPath: null,
    ...(port === undefined ? {} : { port }),
    env: { SERVICE_DATA_DIR: join(folder, 'data'), SERVICE_REDIS_PREFIX: uniquePrefix(), ...env },
  });
  const status = await failed.exited;
  return {
    status,
    output: failed
      .output()
      .split('\n')
      .filter((line) => !line.startsWith('{')),
  };
}

const stores = () => ({ DATABASE_URL: database.url, REDIS_URL: testRedisUrl() });

/** All apps start in the same way. */
const APPS = ['standalone', 'gateway', 'rpc', 'agent-tunnel', 'video-worker'];

test.each(fullTable(APPS, { small: 2 }))(
  '%s reports in one sentence that its port is in use, and exits with 1',
  async (app) => {
    const taken = createServer();
    const port = await freePort();
    await new Promise<void>((resolve) => {
      taken.listen(port, '127.0.0.1', resolve);
    });
    const { status, output } = await failedStart(app, stores(), port);
    taken.close();
    expect(output).toEqual([
      `${app}: port ${port} on 127.0.0.1 is already in use; stop the process that uses it or set SERVICE_PORT to another port`,
    ]);
    expect(status).toBe(1);
  },
);

test.each([
  {
    why: 'an unreachable DATABASE_URL',
    env: { DATABASE_URL: 'postgres://me:hunter2@127.0.0.1:1/nothing' },
    says: /^gateway: cannot reach Postgres.*DATABASE_URL/,
  },
  {
    why: 'an unreachable REDIS_URL',
    env: { REDIS_URL: 'redis://:hunter2@127.0.0.1:1' },
    says: /^gateway: .*REDIS_URL/,
  },
  {
    why: 'several bad values',
    env: {
      SERVICE_PORT: 'eighty',
      SERVICE_LOG_LEVEL: 'loud',
      DATABASE_URL: 'mysql://me:hunter2@x',
    },
    says: /^gateway: invalid configuration: (?=.*SERVICE_PORT)(?=.*SERVICE_LOG_LEVEL)(?=.*DATABASE_URL)/,
  },
  {
    why: 'missing secrets in production',
    env: { NODE_ENV: 'production' },
    says: /^gateway: (?=.*SERVICE_JWT_SECRET is required)(?=.*SERVICE_ENCRYPTION_KEY is required)/,
  },
])('$why is reported in one sentence, without secrets', async ({ env, says }) => {
  const { status, output } = await failedStart('gateway', { ...stores(), ...env });
  expect(output).toHaveLength(1);
  expect(output[0]).toMatch(says);
  expect(output[0]).toMatch(/; (check|correct) .*(start again|server runs)$/);
  expect(output[0]).not.toContain('hunter2');
  expect(status).toBe(1);
});

test.each(fullTable(['rpc', 'gateway'], { small: 1 }))(
  '%s names missing stores, invalid proxies and origins together with the other problems',
  async (app) => {
    const { status, output } = await failedStart(app, {
      SERVICE_TRUST_PROXY: 'banana',
      SERVICE_CORS_ORIGINS: 'notaurl',
      SERVICE_LOG_LEVEL: 'loud',
    });
    expect(output).toHaveLength(1);
    for (const name of ['SERVICE_TRUST_PROXY', 'SERVICE_CORS_ORIGINS', 'SERVICE_LOG_LEVEL'])
      expect(output[0]).toContain(`${name} must be `);
    expect(output[0]).toMatch(/DATABASE_URL is required.*REDIS_URL is required/);
    expect(status).toBe(1);
  },
);

test.each(
  fullTable(
    [
      { why: 'is below a file', path: () => join(folder, 'file', 'data') },
      { why: 'cannot be created', path: () => '/proc/nowhere/data' },
    ],
    { small: 1 },
  ),
)('a data directory that $why is reported in one sentence', async ({ path }) => {
  await writeFile(join(folder, 'file'), '');
  const { status, output } = await failedStart('standalone', { SERVICE_DATA_DIR: path() });
  expect(output).toHaveLength(1);
  expect(output[0]).toMatch(/^standalone: .*data directory.*SERVICE_DATA_DIR/);
  expect(status).toBe(1);
});

test('an argument is answered, and the service does not start', async () => {
  const asked = await startProcess({ app: 'standalone', readyPath: null, args: ['--help'] });
  expect(await asked.exited).toBe(0);
  expect(asked.output()).toContain('SERVICE_PORT');
  expect(asked.output()).not.toContain('listening');
});
