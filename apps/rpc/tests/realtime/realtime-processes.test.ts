import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDatabase } from '@model-gateway/db';
import { silentLog } from '@model-gateway/kernel';
import {
  createTestDatabase,
  fullTable,
  insertAccount,
  rpcCall,
  startProcess,
  testRedisUrl,
  uniquePrefix,
  waitUntil,
  type TestDatabase,
  type TestProcess,
} from '@model-gateway/testkit';
import {
  startEngine,
  startRealtimeApi,
  type RunningEngine,
  type RunningRealtimeApi,
} from '@model-gateway/testkit/upstreams';
import { eventsUrl, signIn, type TestUser } from '../chat/chat-scene.ts';
import { openSocket, openStream, type TestStream } from '../rpc-server.ts';

const SESSION_NOT_FOUND = { code: -32_000, message: 'session not found' };
const ANN = 'ann@example.com';
const BOB = 'bob@example.com';
const event = { type: 'response.create' };

let database: TestDatabase;
let dataDir = '';
let env: Record<string, string> = {};
let api: RunningRealtimeApi;
let engine: RunningEngine;
let holder: TestProcess;
let other: TestProcess;
let ann: TestUser;
let bob: TestUser;

beforeAll(async () => {
  [database, api, engine] = await Promise.all([
    createTestDatabase(),
    startRealtimeApi({ models: ['a-realtime'], answer: () => 'one two' }),
    startEngine({ models: ['robot'] }),
  ]);
  const stores = createDatabase({ databaseUrl: database.url, log: silentLog });
  const plain = { apiKey: null, models: [], capabilities: null };
  const url = api.url.replace('ws', 'http');
  await stores.backendConfigs.save({ ...plain, name: 'api', type: 'external', url });
  await stores.backendConfigs.save({ ...plain, name: 'eng', type: 'engine', url: engine.url });
  for (const email of [ANN, BOB]) await insertAccount(stores, email);
  await stores.close();
  dataDir = await mkdtemp(join(tmpdir(), 'model-gateway-realtime-'));
  env = {
    DATABASE_URL: database.url,
    REDIS_URL: testRedisUrl(),
    SERVICE_REDIS_PREFIX: uniquePrefix(),
    SERVICE_DATA_DIR: dataDir,
  };
  [other, holder] = await Promise.all([startRpc(), startRpc()]);
  [ann, bob] = [await signIn(other.url, ANN), await signIn(other.url, BOB)];
});
afterAll(async () => {
  await Promise.all([holder.stop(), other.stop()]);
  await Promise.all([api.close(), engine.close()]);
  await database.drop();
  await rm(dataDir, { recursive: true, force: true });
});
const startRpc = (): Promise<TestProcess> => startProcess({ app: 'rpc', env });

/** A session of one process, with its notifications read from the other. */
async function start(model: string): Promise<{ sessionId: string; stream: TestStream }> {
  const { result } = await rpcCall(holder.url, 'realtime.start', { model }, ann.token);
  const { session_id, stream_session } = result as { session_id: string; stream_session: string };
  return {
    sessionId: session_id,
    stream: await openStream(eventsUrl(other.url, stream_session)),
  };
}

async function until(stream: TestStream, type: string): Promise<void> {
  let line = '';
  while (!line.includes(`"type":"${type}"`)) line = await stream.next();
}

const openThere = (): number => api.openConnections + engine.openSessions;

test.each(['a-realtime', 'robot'])(
  'a session of %s accepts events and stop on any process, only from its owner',
  async (model) => {
    const { sessionId, stream } = await start(model);
    await until(stream, 'session.created');
    expect(await bob.refusal('realtime.event', { session_id: sessionId, event })).toEqual(
      SESSION_NOT_FOUND,
    );
    expect(await bob.call('realtime.stop', { session_id: sessionId })).toEqual({ removed: false });
    expect(await ann.call('realtime.event', { session_id: sessionId, event })).toEqual({
      ok: true,
    });
    await until(stream, 'response.done');
    expect(await ann.call('realtime.stop', { session_id: sessionId })).toEqual({ removed: true });
    expect(await ann.call('realtime.stop', { session_id: sessionId })).toEqual({ removed: false });
    expect(await ann.refusal('realtime.event', { session_id: sessionId, event })).toEqual(
      SESSION_NOT_FOUND,
    );
    await waitUntil(() => openThere() === 0);
    stream.close();
  },
);

test('events sent through another process keep their order', async () => {
  const { sessionId, stream } = await start('a-realtime');
  const socket = await openSocket(other.url, ann.token);
  const before = api.eventCount;
  const count = 40;
  for (let n = 0; n < count; n += 1) {
    const append = { type: 'input_audio_buffer.append', audio: '', n };
    const params = { session_id: sessionId, event: append };
    socket.send(JSON.stringify({ jsonrpc: '2.0', id: n, method: 'realtime.event', params }));
  }
  await api.until(() => api.eventCount === before + count);
  expect(api.events.slice(-count).map(({ n }) => n)).toEqual(
    Array.from({ length: count }, (_, n) => n),
  );
  socket.socket.terminate();
  await ann.call('realtime.event', { session_id: sessionId, event: { type: 'session.stop' } });
  await waitUntil(() => openThere() === 0);
  stream.close();
});

test('while a process hangs the next event is refused soon; later ones are accepted again', async () => {
  const { sessionId, stream } = await start('a-realtime');
  holder.signal('SIGSTOP');
  expect(await ann.refusal('realtime.event', { session_id: sessionId, event })).toEqual({
    code: -32_000,
    message: 'the session does not respond',
  });
  holder.signal('SIGCONT');
  await waitUntil(async () => {
    await ann.call('realtime.event', { session_id: sessionId, event });
    return true;
  });
  await ann.call('realtime.stop', { session_id: sessionId });
  await waitUntil(() => openThere() === 0);
  stream.close();
});

test('after a process is killed the next event is refused and not timed out, and the session is removed', async () => {
  const talks = [await start('a-realtime'), await start('robot')];
  expect(openThere()).toBe(2);
  await holder.kill();
  for (const { sessionId } of talks) {
    const refused = await ann.refusal('realtime.event', { session_id: sessionId, event });
    expect(refused).toEqual(SESSION_NOT_FOUND);
    expect(await ann.call('realtime.stop', { session_id: sessionId })).toEqual({ removed: false });
  }
  await waitUntil(() => openThere() === 0);
  // That takes two intervals of keepalives.
  for (const { stream } of fullTable(talks, { small: 0 })) await until(stream, 'error');
  for (const { stream } of talks) stream.close();
});
