import { newId } from '@model-gateway/kernel';
import type { TestAccount } from '@model-gateway/testkit';
import { startRpc, type RpcServer } from '../rpc-server.ts';

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
    has_more: false,
    before: null,
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

interface Page {
  readonly messages: readonly { readonly id: string; readonly content: string }[];
  readonly has_more: boolean;
  readonly before: string | null;
  readonly message_count: number;
}

/** Reads a conversation page by page, the newest first. */
async function pagesOf(conversation_id: string): Promise<readonly Page[]> {
  const pages: Page[] = [];
  let before: string | null = null;
  do {
    const { result } = await call('conversations.get', { conversation_id, before });
    const page = result as Page;
    expect(Buffer.byteLength(JSON.stringify(page))).toBeLessThanOrEqual(1024 * 1024);
    expect(page.before !== null).toBe(page.has_more);
    pages.push(page);
    ({ before } = page);
  } while (before !== null);
  return pages;
}

const said = (content: string) => ({ role: 'user', content });

test.each([
  {
    what: '1,000 messages',
    messages: Array.from({ length: 2_500 }, (_, index) => said(String(index))),
    sizes: [1_000, 1_000, 500],
  },
  {
    what: '1 MiB of texts',
    messages: Array.from({ length: 5 }, (_, index) => said(`${index}`.repeat(300_000))),
    sizes: [2, 2, 1],
  },
  {
    what: '1 MiB of texts that JSON escapes',
    messages: Array.from({ length: 3 }, () => said('"'.repeat(300_000))),
    sizes: [1, 1, 1],
  },
])('a page has at most $what, and `before` reads the older ones', async ({ messages, sizes }) => {
  const { id } = await create();
  await rpc.test.context.database.conversations.addTurn(id, messages);
  const pages = await pagesOf(id);
  expect(pages.map((page) => page.messages.length)).toEqual(sizes);
  expect(pages[0]?.message_count).toBe(messages.length);
  const read = pages.toReversed().flatMap((page) => page.messages.map(({ content }) => content));
  expect(read).toEqual(messages.map(({ content }) => content));
});

test('of a message that is larger than a page the beginning is shown', async () => {
  const { id } = await create();
  const { conversations } = rpc.test.context.database;
  await conversations.addTurn(id, [said('first'), said('é'.repeat(2_000_000)), said('last')]);
  const pages = await pagesOf(id);
  expect(pages.map((page) => page.messages)).toMatchObject([
    [{ content: 'last' }],
    [{ content: expect.stringMatching(/^é+$/), truncated: true }],
    [{ content: 'first' }],
  ]);
});

test('an unknown message as `before` gives an empty page', async () => {
  const { id } = await create();
  await rpc.test.context.database.conversations.addTurn(id, [said('first')]);
  const { result } = await call('conversations.get', { conversation_id: id, before: newId() });
  expect(result).toMatchObject({ messages: [], has_more: false, before: null });
});
