import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createTestDatabase,
  fullSize,
  rpcCall,
  signInToProcess,
  startProcess,
  testRedisUrl,
  uniquePrefix,
  type TestDatabase,
  type TestProcess,
} from '@model-gateway/testkit';
import { openSocket, openStream } from './rpc-server.ts';

const BATCHES = fullSize(20, { small: 2 });
const BATCH = 50;
const CROWD = BATCHES * BATCH;

let database: TestDatabase;
let dataDir = '';
let left: TestProcess;
let right: TestProcess;

beforeAll(async () => {
  database = await createTestDatabase();
  dataDir = await mkdtemp(join(tmpdir(), 'model-gateway-rpc-'));
  const env = {
    DATABASE_URL: database.url,
    REDIS_URL: testRedisUrl(),
    SERVICE_REDIS_PREFIX: uniquePrefix(),
    SERVICE_DATA_DIR: dataDir,
  };
  [left, right] = await Promise.all([
    startProcess({ app: 'rpc', env }),
    startProcess({ app: 'rpc', env }),
  ]);
});
afterAll(async () => {
  await Promise.all([left.stop(), right.stop()]);
  await database.drop();
  await rm(dataDir, { recursive: true, force: true });
});

const signIn = (email: string): Promise<string> => signInToProcess(left, database.url, email);

test('the responses of one process are delivered on the event stream of the other, complete and in order', async () => {
  const stream = await openStream(`${left.url}/api/rpc/events?session=across`);
  expect(await stream.next()).toBe(': connected');
  const calls = fullSize(300, { small: 20 });
  for (let id = 0; id < calls; id += 1) {
    await fetch(`${right.url}/api/rpc`, {
      method: 'POST',
      headers: { 'x-session-id': 'across' },
      body: JSON.stringify({ jsonrpc: '2.0', id, method: 'no.such' }),
    });
  }
  for (let id = 0; id < calls; id += 1) {
    expect(JSON.parse((await stream.next()).replace('data: ', ''))).toMatchObject({ id });
  }
  stream.close();
});

test('a token of one process is valid on the other', async () => {
  const token = await signIn('both@example.com');
  expect((await rpcCall(right.url, 'keys.list', {}, token)).result).toEqual([]);
});

test(`${CROWD} event streams and ${CROWD} sockets fit into 300 MB`, async () => {
  const token = await signIn('crowd@example.com');
  const streams = [];
  const sockets = [];
  for (let batch = 0; batch < BATCHES; batch += 1) {
    streams.push(
      ...(await Promise.all(
        Array.from({ length: BATCH }, (_, index) =>
          openStream(`${left.url}/api/rpc/events?session=crowd-${batch}-${index}`),
        ),
      )),
    );
    sockets.push(
      ...(await Promise.all(Array.from({ length: BATCH }, () => openSocket(left.url, token)))),
    );
  }
  for (const stream of streams) expect(await stream.next()).toBe(': connected');
  const answers = await Promise.all(sockets.map((socket) => socket.call('keys.list')));
  expect(answers.every((answer) => Array.isArray(answer.result))).toBe(true);
  const metrics = await (await fetch(`${left.url}/metrics`)).text();
  expect(metrics.split('\n')).toEqual(
    expect.arrayContaining([`service_rpc_event_streams ${CROWD}`, `service_rpc_sockets ${CROWD}`]),
  );
  const resident = Number(/^process_resident_memory_bytes (\d+)$/m.exec(metrics)?.[1]);
  expect(resident).toBeLessThan(300_000_000);
  for (const stream of streams) stream.close();
  for (const { socket } of sockets) socket.terminate();
});

test('a stopping process ends its streams and sockets and exits immediately', async () => {
  const token = await signIn('stop@example.com');
  const stream = await openStream(`${right.url}/api/rpc/events?session=stopping`);
  await stream.next();
  const socket = await openSocket(right.url, token);
  right.signal('SIGTERM');
  await expect(stream.next()).rejects.toThrow();
  expect(await socket.closed).toBe(1001);
  expect(await right.exited).toBe(0);
});
