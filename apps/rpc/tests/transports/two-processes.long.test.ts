import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDatabase } from '@model-gateway/db';
import { silentLog } from '@model-gateway/kernel';
import {
  createGate,
  createTestDatabase,
  fullSize,
  insertAccount,
  rpcCall,
  startProcess,
  testRedisUrl,
  uniquePrefix,
  waitUntil,
  type TestDatabase,
  type TestProcess,
  watchForSecrets,
} from '@model-gateway/testkit';
import { startChatUpstream, type RunningChatUpstream } from '@model-gateway/testkit/upstreams';
import {
  eventsUrl,
  readToEnd,
  signIn,
  userMessage,
  textOf,
  type TestUser,
} from '../chat/chat-scene.ts';
import { openSocket, openStream } from '../rpc-server.ts';

watchForSecrets();

const BATCHES = fullSize(20, { small: 2 });
const BATCH = 50;
const CROWD = BATCHES * BATCH;
const STREAMS = fullSize(200, { small: 12 });
const TOKENS = fullSize(500, { small: 100 });
const CHATTING_BYTES_MAX = 350_000_000;
const RUNS = fullSize(1_000, { small: 16 });
const RUNS_AT_ONCE = 4;
const REGISTRATIONS = 4;
const ANN = 'ann@example.com';
/** A user may have 500 sockets at most. */
const CROWD_EMAILS = ['bob@example.com', 'cleo@example.com', 'dan@example.com'];
const ANSWER = Array.from({ length: TOKENS }, (_, count) => `t${count}`).join(' ');

let database: TestDatabase;
let dataDir = '';
let env: Readonly<Record<string, string>> = {};
let upstream: RunningChatUpstream;
let left: TestProcess;
let right: TestProcess;
let ann: TestUser;

beforeAll(async () => {
  database = await createTestDatabase();
  dataDir = await mkdtemp(join(tmpdir(), 'model-gateway-rpc-'));
  upstream = await startChatUpstream({ models: ['m'], answer: () => ANSWER });
  env = {
    DATABASE_URL: database.url,
    REDIS_URL: testRedisUrl(),
    SERVICE_REDIS_PREFIX: uniquePrefix(),
    SERVICE_DATA_DIR: dataDir,
  };
  await prepare(database.url);
  [left, right] = await Promise.all([
    startProcess({ app: 'rpc', env }),
    startProcess({ app: 'rpc', env }),
  ]);
  ann = await signIn(left.url, ANN);
});
afterAll(async () => {
  await Promise.all([left.stop(), right.stop()]);
  await upstream.close();
  await database.drop();
  await rm(dataDir, { recursive: true, force: true });
});
afterEach(() => upstream.faults.clear());

/** Adds an account and a backend, and removes the limits, which other tests cover. */
async function prepare(databaseUrl: string): Promise<void> {
  const stores = createDatabase({ databaseUrl, log: silentLog });
  await stores.plans.saveTier('free', {
    monthlyUsdQuota: null,
    monthlyTokenQuota: null,
    rpm: null,
  });
  for (const email of [ANN, ...CROWD_EMAILS]) await insertAccount(stores, email);
  const { url } = upstream;
  const config = {
    name: 'up',
    type: 'external',
    url,
    apiKey: null,
    models: [],
    capabilities: null,
  };
  await stores.backendConfigs.save(config);
  await stores.close();
}

const readMetrics = async ({ url }: TestProcess): Promise<string> =>
  (await fetch(`${url}/metrics`)).text();
const residentBytes = (metrics: string): number =>
  Number(/^process_resident_memory_bytes (\d+)$/m.exec(metrics)?.[1]);

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
  expect((await rpcCall(right.url, 'keys.list', {}, ann.token)).result).toEqual([]);
});

test(`${CROWD} event streams and ${CROWD} sockets fit into 300 MB`, async () => {
  const streams = [];
  const sockets = [];
  const users = await Promise.all(CROWD_EMAILS.map((email) => signIn(left.url, email)));
  for (let batch = 0; batch < BATCHES; batch += 1) {
    streams.push(
      ...(await Promise.all(
        Array.from({ length: BATCH }, (_, index) =>
          openStream(`${right.url}/api/rpc/events?session=crowd-${batch}-${index}`),
        ),
      )),
    );
    sockets.push(
      ...(await Promise.all(
        Array.from({ length: BATCH }, (_, index) =>
          openSocket(right.url, users[index % users.length]?.token),
        ),
      )),
    );
  }
  for (const stream of streams) expect(await stream.next()).toBe(': connected');
  const answers = await Promise.all(sockets.map((socket) => socket.call('keys.list')));
  expect(answers.every((answer) => Array.isArray(answer.result))).toBe(true);
  const metrics = await readMetrics(right);
  expect(metrics.split('\n')).toEqual(
    expect.arrayContaining([`service_rpc_event_streams ${CROWD}`, `service_rpc_sockets ${CROWD}`]),
  );
  expect(residentBytes(metrics)).toBeLessThan(300_000_000);
  for (const stream of streams) stream.close();
  for (const { socket } of sockets) socket.terminate();
});

async function send(params: object = {}): Promise<string> {
  const sent = await ann.call('chat.send', { model: 'm', ...userMessage('Hi'), ...params });
  return (sent as { stream_id: string }).stream_id;
}

test(`${STREAMS} concurrent streams of ${TOKENS} tokens arrive complete and in order, on either process`, async () => {
  const everyoneListens = createGate();
  upstream.faults.always({ kind: 'held', until: everyoneListens.opened });
  const streams = await Promise.all(
    Array.from({ length: STREAMS }, async (_, index) => {
      const streamId = await send();
      const stream = await openStream(eventsUrl(index % 2 === 0 ? left.url : right.url, streamId));
      expect(await stream.next()).toBe(': connected');
      return stream;
    }),
  );
  everyoneListens.open();
  const texts = await Promise.all(
    streams.map(async (stream) => {
      const received = await readToEnd(stream);
      expect(received).toHaveLength(TOKENS + 1);
      expect(received.at(-1)).toMatchObject({
        finish_reason: 'stop',
        usage: { completion_tokens: TOKENS },
      });
      return textOf(received);
    }),
  );
  expect(new Set(texts)).toEqual(new Set([ANSWER]));
  expect(residentBytes(await readMetrics(left))).toBeLessThan(CHATTING_BYTES_MAX);
  await waitUntil(async () => /^service_rpc_chat_streams 0$/m.test(await readMetrics(left)));
});

test(`a client that subscribes right after the response gets the first token in at least 99.9 % of ${RUNS} runs`, async () => {
  let missed = 0;
  await Promise.all(
    Array.from({ length: RUNS_AT_ONCE }, async (_, lane) => {
      for (let run = lane; run < RUNS; run += RUNS_AT_ONCE) {
        const streamId = await send({ max_tokens: 2 });
        const stream = await openStream(eventsUrl(run % 2 === 0 ? left.url : right.url, streamId));
        if (textOf(await readToEnd(stream)) !== 't0 t1') missed += 1;
      }
    }),
  );
  expect(missed).toBeLessThanOrEqual(RUNS / 1_000);
});

test('a turn is stopped through another process than its own, once', async () => {
  const upstreamAnswers = createGate();
  upstream.faults.always({ kind: 'held', until: upstreamAnswers.opened });
  const streamId = await send();
  const stream = await openStream(eventsUrl(right.url, streamId));
  expect(await stream.next()).toBe(': connected');
  const stop = (stream_id: string) => rpcCall(right.url, 'chat.stop', { stream_id }, ann.token);
  expect((await stop('unknown-stream')).result).toEqual({ stopped: false });
  expect((await stop(streamId)).result).toEqual({ stopped: true });
  expect((await readToEnd(stream)).at(-1)).toMatchObject({
    is_complete: true,
    error: { message: 'the response was stopped by chat.stop' },
  });
  // The upstream has not answered yet.
  await waitUntil(async () => /^service_rpc_chat_streams 0$/m.test(await readMetrics(left)));
  expect((await stop(streamId)).result).toEqual({ stopped: false });
  upstreamAnswers.open();
});

test('the listeners of a process that was killed learn it from their own process', async () => {
  const killed = await startProcess({ app: 'rpc', env });
  const upstreamAnswers = createGate();
  upstream.faults.always({ kind: 'held', until: upstreamAnswers.opened });
  const sent = await rpcCall(
    killed.url,
    'chat.send',
    { model: 'm', ...userMessage('Hi') },
    ann.token,
  );
  const { stream_id } = sent.result as { stream_id: string };
  const [stream, running] = await Promise.all([
    openStream(eventsUrl(right.url, stream_id)),
    openStream(eventsUrl(right.url, await send())),
  ]);
  killed.signal('SIGKILL');
  await killed.exited;
  expect(await readToEnd(stream)).toEqual([
    {
      stream_id,
      token: expect.stringContaining('Stream error: the process that generated the response ended'),
      is_complete: true,
      error: { code: -32_000, message: expect.stringContaining('the process that generated') },
    },
  ]);
  stream.close();
  // The other one has been as silent.
  upstreamAnswers.open();
  expect(textOf(await readToEnd(running))).toBe(ANSWER);
});

test('a stopping process finishes its streams, also when the listeners are on another process', async () => {
  upstream.faults.always({ kind: 'slow-chunks', delayMs: 1 });
  const ids = await Promise.all(Array.from({ length: 4 }, () => send()));
  const streams = await Promise.all(
    ids.map((id, index) => openStream(eventsUrl(index % 2 === 0 ? left.url : right.url, id))),
  );
  const idle = await openStream(eventsUrl(left.url, 'idle'));
  await idle.next();
  for (const stream of streams) await stream.next();
  left.signal('SIGTERM');
  await expect(idle.next()).rejects.toThrow();
  for (const stream of streams) expect(textOf(await readToEnd(stream))).toBe(ANSWER);
  expect(await left.exited).toBe(0);
});

test('a stopping process ends its streams and idle sockets at once, finishes the calls in progress on a socket, and exits', async () => {
  const stream = await openStream(`${right.url}/api/rpc/events?session=stopping`);
  await stream.next();
  const [busy, idle] = await Promise.all([openSocket(right.url), openSocket(right.url, ann.token)]);
  // Hashing passwords is slow.
  const batch = Array.from({ length: REGISTRATIONS }, (_, id) => ({
    jsonrpc: '2.0',
    id,
    method: 'auth.register',
    params: { email: `user-${id}@example.com`, password: 'long enough' },
  }));
  busy.send(JSON.stringify(batch));
  // A later call on the same socket has a response, so the batch has arrived.
  busy.send(JSON.stringify({ jsonrpc: '2.0', id: 'after', method: 'system.status' }));
  expect(JSON.parse(await busy.next())).toMatchObject({ id: 'after' });
  right.signal('SIGTERM');
  await expect(stream.next()).rejects.toThrow();
  expect(await idle.closed).toBe(1001);
  const answers = JSON.parse(await busy.next()) as readonly { id: number; result?: object }[];
  expect(answers.map(({ id }) => id)).toEqual(batch.map(({ id }) => id));
  expect(answers.filter(({ result }) => result === undefined)).toEqual([]);
  expect(await busy.closed).toBe(1001);
  expect(await right.exited).toBe(0);
});
