import { newId } from '@model-gateway/kernel';
import type { TestAccount } from '@model-gateway/testkit';
import { startRpc, type RpcServer } from './rpc-server.ts';

let rpc: RpcServer;
let owner: TestAccount;
let otherUser: TestAccount;

beforeAll(async () => {
  rpc = await startRpc();
  otherUser = await rpc.createAccount('other@example.com');
  owner = await rpc.createAccount('owner@example.com');
});
afterAll(() => rpc.test.close());

const call = (method: string, params: object = {}, account = owner) =>
  rpc.call(method, params, account.token);
const create = async (params: object = {}): Promise<{ readonly id: string }> =>
  (await call('conversations.create', params)).result as { id: string };

test('a conversation is created, listed, read and deleted', async () => {
  const untitled = await create();
  expect(untitled).toEqual({
    id: expect.any(String),
    title: 'New Conversation',
    message_count: 0,
    created_at: expect.stringMatching(/^\d{4}-.*Z$/),
    updated_at: expect.stringMatching(/^\d{4}-.*Z$/),
    age: 'just now',
  });
  const titled = await create({ title: 'About cats' });
  expect((await call('conversations.list')).result).toEqual([titled, untitled]);
  expect((await call('conversations.list', {}, otherUser)).result).toEqual([]);
  const { id } = titled;
  expect((await call('conversations.get', { conversation_id: id })).result).toEqual({
    ...titled,
    messages: [],
  });
  expect((await call('conversations.delete', { conversation_id: id })).result).toEqual({
    ok: true,
  });
  expect((await call('conversations.list')).result).toEqual([untitled]);
});

test('the older name of the id is accepted, and the newer one takes precedence', async () => {
  const [one, other] = [await create({ title: 'one' }), await create({ title: 'other' })];
  expect((await call('conversations.get', { id: one.id })).result).toMatchObject({ title: 'one' });
  const junk = { id: 'junk', conversation_id: other.id };
  expect((await call('conversations.get', junk)).result).toMatchObject({ title: 'other' });
  const both = { id: one.id, conversation_id: other.id };
  expect((await call('conversations.get', both)).result).toMatchObject({ title: 'other' });
  expect((await call('conversations.delete', { id: one.id })).result).toEqual({ ok: true });
});

test.each(['conversations.get', 'conversations.delete'])(
  '%s gives the same error for the conversation of another user and an unknown one',
  async (method) => {
    const { id } = await create();
    const refused = { code: -32_000, message: 'conversation not found' };
    const theirs = await call(method, { conversation_id: id }, otherUser);
    const unknown = await call(method, { conversation_id: newId() }, otherUser);
    expect([theirs.error, unknown.error]).toEqual([refused, refused]);
    expect((await call('conversations.get', { id })).error).toBeUndefined();
  },
);

test.each([
  { why: 'without an id', method: 'conversations.get', params: {} },
  { why: 'with an invalid id', method: 'conversations.get', params: { id: 'x' } },
  { why: 'without an id', method: 'conversations.delete', params: {} },
  { why: 'with an empty title', method: 'conversations.create', params: { title: ' ' } },
  {
    why: 'with a title that is too long',
    method: 'conversations.create',
    params: { title: 'x'.repeat(201) },
  },
])('$method $why is refused', async ({ method, params }) => {
  expect((await call(method, params)).error).toMatchObject({ code: -32_602 });
});

test.each(['list', 'create', 'get', 'delete'])('conversations.%s needs a token', async (name) => {
  const { error } = await rpc.call(`conversations.${name}`, {});
  expect(error).toEqual({ code: -32_005, message: 'authentication required' });
});
