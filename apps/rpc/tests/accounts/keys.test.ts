import { newId } from '@model-gateway/kernel';
import type { TestAccount } from '@model-gateway/testkit';
import { watchForSecrets } from '@model-gateway/testkit';
import { startRpc, type RpcServer } from '../rpc-server.ts';

watchForSecrets();

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
    expires_at: null,
    budget_usd: null,
    budget_period: null,
    budget_used_usd: null,
    budget_resets_at: null,
    rpm: null,
    tpm: null,
    models: null,
    addresses: null,
    metadata: null,
    log_bodies: null,
    cache: null,
    previous_until: null,
  };
  const listed = await list();
  expect(listed).toEqual([
    { ...common, id: second.id, name: 'second', project: 'shop' },
    { ...common, id: first.id, name: 'first', project: 'default' },
  ]);
  expect(JSON.stringify(listed)).not.toContain(second.key.slice(12, -4));
  expect(await list(otherUser)).toEqual([]);
});

test('half of a character in a text is replaced, and a backslash in metadata is no NUL character', async () => {
  const { key: _key, ...created } = (
    await rpc.call(
      'keys.create',
      { name: 'cut \uD83D', models: ['\uDC00*'], metadata: { pattern: String.raw`\u0000` } },
      otherUser.token,
    )
  ).result as Key;
  const texts = {
    name: 'cut \uFFFD',
    models: ['\uFFFD*'],
    metadata: { pattern: String.raw`\u0000` },
  };
  expect(created).toMatchObject(texts);
  expect(await list(otherUser)).toContainEqual(created);
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

test('the limits of a key are set, changed and cleared one by one', async () => {
  const limits = {
    expires_at: '2099-01-01T00:00:00.000Z',
    budget_usd: 5,
    rpm: 10,
    tpm: 1000,
    models: ['gpt-*'],
    addresses: ['10.0.0.0/8', '::1'],
    metadata: { team: 'shop' },
    log_bodies: true,
    cache: { ttl_secs: 60 },
  };
  const { id, ...created } = await create({ name: 'limited', ...limits });
  const monthly = { budget_period: 'month', budget_used_usd: 0 };
  expect(created).toMatchObject({ ...limits, ...monthly, budget_resets_at: expect.any(String) });
  const change = async (params: object) =>
    (await rpc.call('keys.update', { key_id: id, ...params }, owner.token)).result;
  expect(await change({ rpm: null, models: null, name: 'renamed' })).toMatchObject({
    ...limits,
    ...monthly,
    name: 'renamed',
    rpm: null,
    models: null,
  });
  expect(await change({ budget_period: 'total' })).toMatchObject({
    budget_usd: 5,
    budget_period: 'total',
    budget_resets_at: null,
  });
  expect(await change({ budget_period: null })).toMatchObject({
    budget_usd: 5,
    budget_period: 'month',
  });
  const none = { budget_usd: null, budget_period: null };
  const cleared = { ...none, budget_used_usd: null, budget_resets_at: null };
  expect(await change({ budget_usd: null })).toMatchObject(cleared);
  // As a client does that sends a key back as it was listed.
  expect(await change(none)).toMatchObject(cleared);
  expect(await create({ name: 'without a budget', ...none })).toMatchObject(cleared);
  const listed = (await list()).find((key) => key['id'] === id);
  expect(listed).toMatchObject({ tpm: 1000, addresses: limits.addresses, budget_usd: null });
});

test('a rotated key keeps its id and gets another secret', async () => {
  const { id, key: first } = await create({ name: 'rotated' });
  const rotate = async (params: object) =>
    (await rpc.call('keys.rotate', { key_id: id, ...params }, owner.token)).result as Key;
  const before = Date.now();
  const rotated = await rotate({});
  expect(rotated).toMatchObject({ id, name: 'rotated', previous_until: expect.any(String) });
  const { previous_until } = rotated as unknown as { previous_until: string };
  expect(Date.parse(previous_until)).toBeGreaterThanOrEqual(before + 86_400_000);
  expect(rotated.key).not.toBe(first);
  expect(await rotate({ grace_secs: 0 })).toMatchObject({ id, previous_until: null });
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
])('$why cannot be revoked, changed or rotated', async ({ params }) => {
  for (const method of ['keys.revoke', 'keys.update', 'keys.rotate']) {
    const { error } = await rpc.call(method, await params(), otherUser.token);
    expect(error).toEqual({ code: -32_000, message: 'key not found' });
  }
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

test.each([
  { models: [] },
  { addresses: [] },
  { addresses: ['10.0.0.0/33'] },
  { addresses: ['example.com'] },
  { budget_usd: -1 },
  { budget_period: 'day' },
  { budget_usd: 1, budget_period: 'year' },
  { rpm: 0 },
  { tpm: 1.5 },
  { metadata: { text: 'x'.repeat(4096) } },
  { metadata: { text: '\u0000' } },
  { metadata: { list: ['\uD800'] } },
  { metadata: { '\uDC00': 1 } },
  { cache: { ttl_secs: 0 } },
  { cache: { ttl_secs: 86_401 } },
  { expires_at: '2020-01-01T00:00:00Z' },
  { expires_at: 'tomorrow' },
  { expires_at: '9999-12-31T23:59:59-14:00' },
])('a key with %j is refused', async (settings) => {
  const created = await rpc.call('keys.create', { name: 'wrong', ...settings }, owner.token);
  expect(created.error?.code).toBe(-32_602);
  const { id } = await create({ name: 'right' });
  const updated = await rpc.call('keys.update', { key_id: id, ...settings }, owner.token);
  expect(updated.error?.code).toBe(-32_602);
});

test.each([-1, 604_801, 0.5])('a grace of %p seconds is refused', async (grace_secs) => {
  const { id } = await create({ name: 'right' });
  const { error } = await rpc.call('keys.rotate', { key_id: id, grace_secs }, owner.token);
  expect(error?.code).toBe(-32_602);
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
    message: expect.stringMatching(/at most 3 per user\. Revoke one .*SERVICE_MAX_KEYS_PER_USER/),
  });
  await limited.call('keys.revoke', { key_id: created[0]?.id }, user.token);
  expect((await make()).error).toBeUndefined();
  const other = await limited.createAccount('few@example.com');
  expect((await limited.call('keys.create', { name: 'k' }, other.token)).error).toBeUndefined();
  await limited.test.close();
});
