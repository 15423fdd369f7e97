import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createTestDatabase,
  startProcess,
  testRedisUrl,
  uniquePrefix,
  type TestDatabase,
  type TestProcess,
} from '@model-gateway/testkit';
import { openSocket } from './rpc-server.ts';

const USERS = 4;

let database: TestDatabase;
let dataDir = '';
let rpc: TestProcess;

beforeAll(async () => {
  database = await createTestDatabase();
  dataDir = await mkdtemp(join(tmpdir(), 'model-gateway-stopping-'));
  rpc = await startProcess({
    app: 'rpc',
    env: {
      DATABASE_URL: database.url,
      REDIS_URL: testRedisUrl(),
      SERVICE_REDIS_PREFIX: uniquePrefix(),
      SERVICE_DATA_DIR: dataDir,
    },
  });
});
afterAll(async () => {
  await rpc.stop();
  await database.drop();
  await rm(dataDir, { recursive: true, force: true });
});

test('a stopping process finishes the calls in progress on its sockets before it closes them', async () => {
  const [busy, idle] = await Promise.all([openSocket(rpc.url), openSocket(rpc.url)]);
  // Hashing passwords is slow.
  const batch = Array.from({ length: USERS }, (_, id) => ({
    jsonrpc: '2.0',
    id,
    method: 'auth.register',
    params: { email: `user-${id}@example.com`, password: 'long enough' },
  }));
  busy.send(JSON.stringify(batch));
  // A later call on the same socket has a response, so the batch has arrived.
  busy.send(JSON.stringify({ jsonrpc: '2.0', id: 'after', method: 'system.status' }));
  expect(JSON.parse(await busy.next())).toMatchObject({ id: 'after' });
  rpc.signal('SIGTERM');
  expect(await idle.closed).toBe(1001);
  const answers = JSON.parse(await busy.next()) as readonly { id: number; result?: object }[];
  expect(answers.map(({ id }) => id)).toEqual(batch.map(({ id }) => id));
  expect(answers.filter(({ result }) => result === undefined)).toEqual([]);
  expect(await busy.closed).toBe(1001);
  expect(await rpc.exited).toBe(0);
});
