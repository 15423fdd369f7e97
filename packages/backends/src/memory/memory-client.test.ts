import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { manualClock, silentLog } from '@model-gateway/kernel';
import { startMemoryService, type RunningMemoryService } from '@model-gateway/testkit/upstreams';
import { createMemoryClient } from './memory-client.ts';

const TOKEN = 'the token of the tests';
const TIMEOUT_MS = 1_000;

let service: RunningMemoryService;
let clock: ReturnType<typeof manualClock>;
let clients: ReturnType<typeof createMemoryClient>[];
beforeEach(async () => {
  service = await startMemoryService({ token: TOKEN });
  clock = manualClock(0);
  clients = [];
});
afterEach(async () => {
  for (const client of clients) client.close();
  await service.close();
});

function connect({ url = service.url, token = TOKEN } = {}) {
  const client = createMemoryClient({ url, token, timeoutMs: TIMEOUT_MS, clock, log: silentLog });
  clients.push(client);
  return client;
}
/** The error of a call, or undefined. */
async function failureOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => undefined,
    (error: unknown) => error,
  );
}

test('recalls, writes and deletes on one connection, which the first call opens', async () => {
  const client = connect();
  expect(service.connectionCount).toBe(0);
  const [written] = await Promise.all([
    client.write('ann', [{ role: 'user', content: 'I like green tea' }]),
    client.recall('bob', 'tea', 5),
    client.delete('bob', 'none'),
  ]);
  const [nodeId = ''] = written;
  const recalled = [{ nodeId, text: 'I like green tea' }];
  expect(await client.recall('ann', 'green tea?', 5)).toEqual(recalled);
  expect(await client.delete('bob', nodeId)).toBe(false);
  expect(await client.delete('ann', nodeId)).toBe(true);
  expect(service.connectionCount).toBe(1);
  expect(service.frames[0]?.headers.authorization).toBe(`Bearer ${TOKEN}`);
  expect(service.frames.find(({ method }) => method === 'Memory.Recall')?.params).toEqual({
    user_id: 'bob',
    query: 'tea',
    limit: 5,
  });
});

test.each([
  { fault: { kind: 'slow', delayMs: 10 * TIMEOUT_MS }, kind: 'timeout' },
  { fault: { kind: 'silent' }, kind: 'timeout' },
  { fault: { kind: 'garbage' }, kind: 'invalid' },
  { fault: { kind: 'close' }, kind: 'invalid' },
  { fault: { kind: 'error', message: 'no' }, kind: 'refused' },
] as const)('after $fault.kind the next call gets a new connection', async ({ fault, kind }) => {
  const client = connect();
  service.remember('ann', 'likes tea');
  service.faults.next(fault);
  expect(await failureOf(client.recall('ann', 'tea', 5))).toMatchObject({ kind });
  clock.advance(250);
  expect(await client.recall('ann', 'tea', 5)).toHaveLength(1);
  expect(service.connectionCount).toBe(2);
  await service.until(() => service.openConnections === 1);
});

test('a call that fails takes no other with it', async () => {
  const client = connect();
  service.remember('ann', 'likes tea');
  await client.recall('ann', 'warm up', 5);
  service.faults.next({ kind: 'slow', delayMs: 50 }, 1, 'Memory.Recall');
  service.faults.next({ kind: 'error' }, 1, 'Memory.Write');
  const recall = client.recall('ann', 'tea', 5);
  expect(await failureOf(client.write('ann', []))).toMatchObject({ kind: 'refused' });
  expect(await recall).toHaveLength(1);
  await service.until(() => service.openConnections === 0);
});

describe('a service that cannot be connected to', () => {
  let mute: Server;
  let muteUrl: string;
  beforeAll(async () => {
    mute = createServer(() => undefined).listen(0, '127.0.0.1');
    await once(mute, 'listening');
    const address = mute.address();
    if (typeof address !== 'object' || address === null) throw new Error('not listening');
    muteUrl = `ws://127.0.0.1:${address.port}`;
  });
  afterAll(() => mute.close());

  test.each([
    { why: 'refuses connections', url: () => 'ws://127.0.0.1:1', token: TOKEN },
    { why: 'has another token', url: () => service.url, token: 'wrong' },
    { why: 'never answers the upgrade', url: () => muteUrl, token: TOKEN },
    { why: 'has no address', url: () => 'ws://memory.invalid', token: TOKEN },
  ])('because it $why fails in words without secrets, in time', async ({ url, token }) => {
    const failure = await failureOf(connect({ url: url(), token }).recall('ann', 'tea', 5));
    expect(failure).toMatchObject({
      kind: 'unreachable',
      message: 'the memory service could not be reached',
    });
  });

  test('delays no call until one has tried again', async () => {
    const client = connect();
    await service.refuse();
    const together = [1, 2, 3].map(() => failureOf(client.recall('ann', 'tea', 5)));
    expect(await Promise.all(together)).toMatchObject([
      { kind: 'unreachable' },
      { kind: 'unreachable' },
      { kind: 'unreachable' },
    ]);
    await service.resume();
    const calls = () => [
      client.recall('ann', 'tea', 5),
      client.recall('ann', 'tea', 5),
      client.write('ann', [{ role: 'user', content: 'tea' }]),
    ];
    for (const call of calls())
      expect(await failureOf(call)).toMatchObject({ kind: 'unavailable' });
    expect(service.connectionCount).toBe(0);
    clock.advance(250);
    const [first, second, written] = calls().map(failureOf);
    expect(await first).toBeUndefined();
    expect(await second).toMatchObject({ kind: 'unavailable' });
    expect(await written).toBeUndefined();
    expect(await failureOf(client.recall('ann', 'tea', 5))).toBeUndefined();
    expect(service.connectionCount).toBe(1);
  });
});

test('a service that leaves recalls unanswered costs one turn its time, not every turn', async () => {
  const client = connect();
  service.faults.always({ kind: 'silent' }, 'Memory.Recall');
  expect(await failureOf(client.recall('ann', 'tea', 5))).toMatchObject({ kind: 'timeout' });
  for (const pauseMs of [250, 500, 1_000]) {
    expect(await failureOf(client.recall('ann', 'tea', 5))).toMatchObject({ kind: 'unavailable' });
    clock.advance(pauseMs);
    // A write that works is no reason to wait for recalls again.
    await client.write('ann', [{ role: 'user', content: 'tea' }]);
    expect(await failureOf(client.recall('ann', 'tea', 5))).toMatchObject({ kind: 'timeout' });
  }
  expect(service.callsOf('Memory.Recall')).toBe(4);
});

test('one recall without an answer among others that are answered is no outage', async () => {
  const client = connect();
  service.faults.next({ kind: 'silent' }, 1, 'Memory.Recall');
  const silent = failureOf(client.recall('ann', 'tea', 5));
  await service.until(() => service.callsOf('Memory.Recall') === 1);
  await client.recall('ann', 'tea', 5);
  expect(await silent).toMatchObject({ kind: 'timeout' });
  expect(await failureOf(client.recall('ann', 'tea', 5))).toBeUndefined();
});

test('closing ends the calls under way and the connection', async () => {
  const client = connect();
  service.faults.always({ kind: 'silent' });
  const call = failureOf(client.recall('ann', 'tea', 5));
  await service.until(() => service.callsOf('Memory.Recall') === 1);
  client.close();
  expect(await call).toMatchObject({ kind: 'invalid' });
  expect(await failureOf(client.recall('ann', 'tea', 5))).toMatchObject({ kind: 'unavailable' });
  await service.until(() => service.openConnections === 0);
});
