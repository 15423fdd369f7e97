import { startMemoryService, type RunningMemoryService } from '@model-gateway/testkit/upstreams';
import type { TestAccount } from '@model-gateway/testkit';
import { startRpc, type RpcServer } from '../rpc-server.ts';

const TOKEN = 'the token of the memory service';
const UNAVAILABLE = { code: -32_000, message: 'the memory service is not available' };

let service: RunningMemoryService;
let rpc: RpcServer;
let ann: TestAccount;
let bob: TestAccount;
beforeAll(async () => {
  service = await startMemoryService({ token: TOKEN });
  rpc = await startRpc({
    SERVICE_MEMORY_URL: service.url,
    SERVICE_MEMORY_TOKEN: TOKEN,
    SERVICE_MEMORY_TIMEOUT_MS: '2000',
  });
  ann = await rpc.createAccount('ann@example.com');
  bob = await rpc.createAccount('bob@example.com');
});
afterAll(async () => {
  await rpc.test.close();
  await service.close();
});

const status = async ({ token }: TestAccount) =>
  (await rpc.call('memory.status', {}, token)).result as {
    readonly enabled: boolean;
    readonly writeback: boolean;
    readonly events: readonly Record<string, unknown>[];
  };
const remove = (nodeId: unknown, { token }: TestAccount, more = {}) =>
  rpc.call('memory.delete', { node_id: nodeId, ...more }, token);

test('a user deletes one of their memories, and the status shows it', async () => {
  expect(await status(ann)).toEqual({ enabled: true, writeback: true, events: [] });
  const { node_id } = service.remember(ann.id, 'likes tea');
  expect((await remove(node_id, ann)).result).toEqual({ deleted: true });
  expect(service.nodes).toEqual([]);
  expect((await remove(node_id, ann)).result).toEqual({ deleted: false });
  expect((await status(ann)).events).toEqual([
    { at: expect.any(String), kind: 'delete', node_ids: [node_id], detail: null },
  ]);
});

test('no request deletes or shows the memory of another user', async () => {
  const { node_id } = service.remember(ann.id, 'the safe opens with 42');
  for (const more of [{}, { user_id: ann.id }, { userId: ann.id }])
    expect((await remove(node_id, bob, more)).result).toEqual({ deleted: false });
  expect(service.nodes).toHaveLength(1);
  expect((await status(bob)).events).toEqual([]);
  expect(service.frames.at(-1)?.params).toEqual({ user_id: bob.id, node_id });
});

test.each([
  { kind: 'slow', delayMs: 3_600_000 },
  { kind: 'silent' },
  { kind: 'garbage' },
  { kind: 'close' },
  { kind: 'error' },
] as const)('deleting says so when the service is $kind', async (fault) => {
  service.faults.next(fault, 1, 'Memory.Delete');
  expect((await remove('any', bob)).error).toEqual(UNAVAILABLE);
  expect((await status(bob)).events[0]).toMatchObject({
    kind: 'error',
    node_ids: [],
    detail: expect.stringMatching(/^delete: the memory service /),
  });
});

test('deleting reports an outage of the service, and the status still works', async () => {
  await service.refuse();
  expect((await remove('any', bob)).error).toEqual(UNAVAILABLE);
  expect((await status(bob)).enabled).toBe(true);
  await service.resume();
});

test.each([
  { why: 'no id', params: {}, code: -32_602 },
  { why: 'an empty id', params: { node_id: '' }, code: -32_602 },
  { why: 'an id that is not a text', params: { node_id: 7 }, code: -32_602 },
  { why: 'an id that is too long', params: { node_id: 'x'.repeat(257) }, code: -32_602 },
])('deleting refuses $why', async ({ params, code }) => {
  expect((await rpc.call('memory.delete', params, ann.token)).error).toMatchObject({ code });
});

test.each(['memory.status', 'memory.delete'])('%s is for users', async (method) => {
  const params = method === 'memory.delete' ? { node_id: 'x' } : {};
  expect((await rpc.call(method, params)).error).toMatchObject({ code: -32_005 });
});

describe('without a memory service', () => {
  let without: RpcServer;
  beforeAll(async () => {
    without = await startRpc();
  });
  afterAll(() => without.test.close());

  test('memory is disabled, and nothing can be deleted', async () => {
    const { token } = await without.createAccount('ann@example.com');
    expect((await without.call('memory.status', {}, token)).result).toEqual({
      enabled: false,
      writeback: false,
      events: [],
    });
    const { result } = await without.call('memory.delete', { node_id: 'any' }, token);
    expect(result).toEqual({ deleted: false });
  });
});
