import { newId } from '@model-gateway/kernel';
import type { TestAccount } from '@model-gateway/testkit';
import { startRpc, type RpcServer } from './rpc-server.ts';

interface Key {
  readonly id: string;
  readonly key: string;
}

let rpc: RpcServer;
let owner: TestAccount;
let otherUser: TestAccount;

beforeAll(async () => {
  rpc = await startRpc();
  owner = await rpc.createAccount('owner@example.com');
  otherUser = await rpc.createAccount('other@example.com');
});
afterAll(() => rpc.test.close());

const create = async (params: object, account = owner): Promise<Key> =>
  (await rpc.call('keys.create', params, account.token)).result as Key;
const list = async (account = owner): Promise<readonly Record<string, unknown>[]> =>
  (await rpc.call('keys.list', {}, account.token)).result as Record<string, unknown>[];

test('keys are listed newest first, without their secrets, and only the own ones', async () => {
  expect(await list()).toEqual([]);
  const first = await create({ name: 'first' });
  const second = await create({ name: 'second', project: 'shop' });
  const common = {
    key_prefix: 'service-',
    key_hint: expect.stringMatching(/^service-[0-9a-f]{4}…[0-9a-f]{4}$/),
    group_id: null,
    active: true,
    created_at: expect.stringMatching(/^\d{4}-.*Z$/),
    last_used_at: null,
    revoked_at: null,
  };
  const listed = await list();
  expect(listed).toEqual([
    { ...common, id: second.id, name: 'second', project: 'shop' },
    { ...common, id: first.id, name: 'first', project: 'default' },
  ]);
  expect(JSON.stringify(listed)).not.toContain(second.key.slice(12, -4));
  expect(await list(otherUser)).toEqual([]);
});

test('a revoked key stays revoked, and revoking it again succeeds', async () => {
  const { id } = await create({ name: 'short-lived' });
  const revoke = () => rpc.call('keys.revoke', { key_id: id }, owner.token);
  expect((await revoke()).result).toEqual({ ok: true });
  const revoked = (await list()).find((key) => key['id'] === id);
  expect(revoked).toMatchObject({ active: false, revoked_at: expect.any(String) });
  expect((await revoke()).result).toEqual({ ok: true });
  expect((await list()).find((key) => key['id'] === id)).toEqual(revoked);
});

test('a key of a group needs an active membership of it', async () => {
  const group = (await rpc.call('group.create', { name: 'team' }, owner.token)).result as {
    id: string;
  };
  expect(await create({ name: 'team key', group_id: group.id })).toMatchObject({
    group_id: group.id,
    active: true,
  });
  const refused = { code: -32_000, message: 'group not found' };
  const params = { name: 'not mine', group_id: group.id };
  expect((await rpc.call('keys.create', params, otherUser.token)).error).toEqual(refused);
  const nowhere = { name: 'nowhere', group_id: newId() };
  expect((await rpc.call('keys.create', nowhere, owner.token)).error).toEqual(refused);
});

test.each([
  {
    why: 'the key of another user',
    params: async () => ({ key_id: (await create({ name: 'x' })).id }),
  },
  { why: 'an unknown key', params: async () => ({ key_id: newId() }) },
])('$why cannot be revoked', async ({ params }) => {
  const { error } = await rpc.call('keys.revoke', await params(), otherUser.token);
  expect(error).toEqual({ code: -32_000, message: 'key not found' });
});

test.each([
  { why: 'without a token', method: 'keys.list', params: {}, signedIn: false, code: -32_005 },
  { why: 'without a token', method: 'keys.create', params: {}, signedIn: false, code: -32_005 },
  { why: 'without a token', method: 'keys.revoke', params: {}, signedIn: false, code: -32_005 },
  { why: 'without a name', method: 'keys.create', params: {}, signedIn: true, code: -32_602 },
  {
    why: 'with an empty name',
    method: 'keys.create',
    params: { name: ' ' },
    signedIn: true,
    code: -32_602,
  },
  {
    why: 'with an invalid group id',
    method: 'keys.create',
    params: { name: 'x', group_id: 'g' },
    signedIn: true,
    code: -32_602,
  },
  {
    why: 'with a NUL in the name',
    method: 'keys.create',
    params: { name: 'a\u0000b' },
    signedIn: true,
    code: -32_602,
  },
  {
    why: 'with an invalid id',
    method: 'keys.revoke',
    params: { key_id: '1' },
    signedIn: true,
    code: -32_602,
  },
])('$method $why is refused with $code', async ({ method, params, signedIn, code }) => {
  const { error } = await rpc.call(method, params, signedIn ? owner.token : undefined);
  expect(error?.code).toBe(code);
});

test('a user may have so many active keys, also when they are created at once', async () => {
  const limited = await startRpc({ SERVICE_MAX_KEYS_PER_USER: '3' });
  const user = await limited.createAccount('many@example.com');
  const make = () => limited.call('keys.create', { name: 'k' }, user.token);
  const answers = await Promise.all(Array.from({ length: 8 }, make));
  const created = answers.flatMap(({ result }) => (result === undefined ? [] : [result as Key]));
  expect(created).toHaveLength(3);
  expect((await make()).error).toEqual({
    code: -32_000,
    message: 'too many active keys: at most 3 per user; revoke one first',
  });
  await limited.call('keys.revoke', { key_id: created[0]?.id }, user.token);
  expect((await make()).error).toBeUndefined();
  const other = await limited.createAccount('few@example.com');
  expect((await limited.call('keys.create', { name: 'k' }, other.token)).error).toBeUndefined();
  await limited.test.close();
});
