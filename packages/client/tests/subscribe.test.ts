import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { createRpcClient, randomId, type RpcClient, type RpcEvent } from '../src/index.ts';
import { startTestRpcServer, type TestRpcServer } from './test-rpc-server.ts';

const progress = (value: number): RpcEvent => ({
  jsonrpc: '2.0',
  method: 'video.progress',
  params: { job_id: 'a', stream_id: 'a', status: 'running', progress: value },
});
const push = (stream: ServerResponse, event: RpcEvent): boolean =>
  stream.write(`data: ${JSON.stringify(event)}\n\n`);

let server: TestRpcServer;
let client: RpcClient;

beforeEach(async () => {
  server = await startTestRpcServer({
    answer: async () => ({ result: null }),
    sendsConnected: false,
  });
  client = createRpcClient({ baseUrl: server.url, token: 'mine' });
});
afterEach(async () => {
  client.close();
  await server.close();
});

/** Reads `count` events and ends the iteration. */
async function take(events: AsyncIterable<RpcEvent>, count: number): Promise<readonly RpcEvent[]> {
  const taken: RpcEvent[] = [];
  for await (const event of events) {
    taken.push(event);
    if (taken.length === count) break;
  }
  return taken;
}

test('a subscription is ready only when the service confirms it', async () => {
  const session = randomId();
  const subscription = client.subscribe(session);
  let isReady = false;
  const ready = subscription.ready.then(() => {
    isReady = true;
  });
  const stream = await server.streamOf(session);
  expect(server.headers.at(-1)).toMatchObject({ authorization: 'Bearer mine' });
  stream.write(': keepalive\n\n');
  await client.call('system.status');
  expect(isReady).toBe(false);
  stream.write(': connected\n\n');
  await ready;
});

test('events arrive in order, however the bytes are split, and comments are skipped', async () => {
  const subscription = client.subscribe('s');
  const stream = await server.streamOf('s');
  stream.write(': connected\n\n');
  push(stream, progress(1));
  await subscription.ready;
  push(stream, progress(2));
  stream.write(': keepalive\n\n');
  const copy: RpcEvent = { jsonrpc: '2.0', id: 'x', result: { text: 'naïve 漢字' } };
  for (const byte of Buffer.from(`data: ${JSON.stringify(copy)}\n\n`))
    stream.write(Buffer.of(byte));
  push(stream, progress(3));
  expect(await take(subscription, 4)).toEqual([progress(1), progress(2), copy, progress(3)]);
});

test('leaving the loop closes the connection', async () => {
  const subscription = client.subscribe('s');
  const stream = await server.streamOf('s');
  const closed = once(stream, 'close');
  stream.write(': connected\n\n');
  push(stream, progress(1));
  await take(subscription, 1);
  await closed;
});

test.each([
  { how: 'the caller’s signal', end: (controller: AbortController) => controller.abort() },
  { how: 'closing the client', end: () => client.close() },
])('$how ends the iteration without an error', async ({ end }) => {
  const controller = new AbortController();
  const subscription = client.subscribe('s', { signal: controller.signal });
  (await server.streamOf('s')).write(': connected\n\n');
  await subscription.ready;
  const taken = take(subscription, 1);
  end(controller);
  expect(await taken).toEqual([]);
});

test('closing a subscription before it is ready rejects `ready`', async () => {
  const subscription = client.subscribe('s');
  await server.streamOf('s');
  subscription.close();
  await expect(subscription.ready).rejects.toMatchObject({ problem: 'closed' });
  expect(await take(subscription, 1)).toEqual([]);
});

test('a service that never confirms the subscription is a timeout', async () => {
  const hasty = createRpcClient({ baseUrl: server.url, timeoutMs: 100 }).subscribe('s');
  await expect(hasty.ready).rejects.toMatchObject({ problem: 'timeout' });
  await expect(take(hasty, 1)).rejects.toMatchObject({ problem: 'timeout' });
});

test.each([
  { how: 'ends', end: (stream: ServerResponse) => stream.end() },
  { how: 'breaks off', end: (stream: ServerResponse) => stream.destroy() },
])('a stream that $how is an error, after the events that arrived before', async ({ end }) => {
  const subscription = client.subscribe('s');
  const stream = await server.streamOf('s');
  stream.write(': connected\n\n');
  await subscription.ready;
  const taken: RpcEvent[] = [];
  const reading = (async () => {
    for await (const event of subscription) {
      taken.push(event);
      end(stream);
    }
  })();
  push(stream, progress(1));
  await expect(reading).rejects.toMatchObject({ name: 'RpcConnectionError' });
  expect(taken).toEqual([progress(1)]);
});

test('a refusal contains the status', async () => {
  const refused = createRpcClient({
    baseUrl: server.url,
    fetch: async () => new Response('{"error":{"code":"bad_session"}}', { status: 400 }),
  }).subscribe('no such session');
  await expect(refused.ready).rejects.toMatchObject({
    problem: 'bad-answer',
    status: 400,
    message: expect.stringContaining('bad_session'),
  });
  await expect(take(refused, 1)).rejects.toMatchObject({ status: 400 });
});
