import { newId } from '@model-gateway/kernel';
import {
  createTestAccount,
  createTestContext,
  rpcCall,
  type TestContext,
} from '@model-gateway/testkit';
import { createRpc } from '../../src/app.ts';
import { readRpcConfig } from '../../src/config.ts';

let test_: TestContext;
let url = '';

beforeAll(async () => {
  test_ = await createTestContext();
  const config = readRpcConfig({ DATABASE_URL: 'postgres://unused', REDIS_URL: 'redis://unused' });
  url = await test_.serve(createRpc(config, test_.context));
});
afterAll(() => test_.close());

interface SignedIn {
  readonly access_token: string;
  readonly user: { readonly id: string; readonly is_admin: boolean };
}

async function register(email: string): Promise<SignedIn> {
  const { result } = await rpcCall(url, 'auth.register', { email, password: 'long enough' });
  return result as SignedIn;
}

test('the first account is the admin, later ones are not, and an email can be registered once', async () => {
  const first = await register(' First@Example.com ');
  expect(first).toEqual({
    access_token: expect.any(String),
    refresh_token: expect.stringMatching(/^[\w-]{43}$/),
    token_type: 'Bearer',
    expires_in: 900,
    user: { id: expect.any(String), email: 'first@example.com', name: '', is_admin: true },
  });
  expect((await register('second@example.com')).user.is_admin).toBe(false);
  const again = await rpcCall(url, 'auth.register', {
    email: 'FIRST@example.com',
    password: 'long enough',
  });
  expect(again.error).toEqual({ code: -32_000, message: 'email already registered' });
});

test('a key is shown once, with its prefix and a hint', async () => {
  const { token } = await createTestAccount(test_.context, 'keys@example.com');
  const { result } = await rpcCall(url, 'keys.create', { name: 'mine' }, token);
  expect(result).toMatchObject({
    name: 'mine',
    key: expect.stringMatching(/^service-[0-9a-f-]{36}$/),
    key_prefix: 'service-',
    key_hint: expect.stringMatching(/^service-[0-9a-f]{4}…[0-9a-f]{4}$/),
    project: 'default',
    group_id: null,
  });
});

test('usage is listed newest first, in pages, and only the own usage', async () => {
  const owner = await createTestAccount(test_.context, 'usage@example.com');
  const event = (
    model: string,
    second: number,
    userId = owner.id,
    project: string | null = null,
  ) => ({
    id: newId(),
    user_id: userId,
    key_id: project === null ? null : newId(),
    api_key_id: 'service-',
    project,
    group_id: null,
    model,
    backend: 'gateway',
    prompt_tokens: 1,
    completion_tokens: 2,
    total_tokens: 3,
    cost: 0.25,
    multiplier: 1,
    ref_id: null,
    created_at: new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString(),
  });
  await test_.context.database.usage.record(
    [event('a', 1), event('b', 2, owner.id, 'shop'), event('c', 3), event('not mine', 4, newId())],
    { pointsPerUsd: 100 },
  );
  const all = await rpcCall(url, 'usage.list', undefined, owner.token);
  expect(all.result).toMatchObject({
    records: [{ model: 'c' }, { model: 'b', project: 'shop', cost: 0.25 }, { model: 'a' }],
    total: 3,
    limit: 50,
    offset: 0,
    project: null,
  });
  const page = await rpcCall(url, 'usage.list', { limit: 0, offset: 1 }, owner.token);
  expect(page.result).toMatchObject({ records: [{ model: 'b' }], total: 3, limit: 1, offset: 1 });
  const shop = await rpcCall(url, 'usage.list', { project: 'shop' }, owner.token);
  expect(shop.result).toMatchObject({ records: [{ model: 'b' }], total: 1, project: 'shop' });
});

test.each([
  {
    why: 'an unknown method',
    method: 'no.such',
    params: {},
    code: -32_601,
    message: 'Method not found: no.such',
  },
  {
    why: 'a missing token',
    method: 'keys.create',
    params: { name: 'x' },
    code: -32_005,
    message: 'authentication required',
  },
  {
    why: 'a missing token before bad params',
    method: 'keys.create',
    params: {},
    code: -32_005,
    message: 'authentication required',
  },
  {
    why: 'a short password',
    method: 'auth.register',
    params: { email: 'a@b.co', password: 'short' },
    code: -32_602,
    message: expect.stringContaining('password'),
  },
  {
    why: 'an invalid email',
    method: 'auth.register',
    params: { email: 'invalid', password: 'long enough' },
    code: -32_602,
    message: expect.stringContaining('email'),
  },
])('$why is refused with $code', async ({ method, params, code, message }) => {
  expect((await rpcCall(url, method, params)).error).toMatchObject({ code, message });
});

test('text that is not JSON is a parse error, and a value that is not a request is invalid', async () => {
  const post = async (body: string): Promise<unknown> =>
    (await fetch(`${url}/api/rpc`, { method: 'POST', body })).json();
  expect(await post('{')).toMatchObject({ id: null, error: { code: -32_700 } });
  expect(await post('{"jsonrpc":"1.0","id":1,"method":"x"}')).toMatchObject({
    error: { code: -32_600 },
  });
});

test('registration can be closed', async () => {
  const config = readRpcConfig({
    DATABASE_URL: 'postgres://unused',
    REDIS_URL: 'redis://unused',
    SERVICE_REGISTRATION_OPEN: 'false',
  });
  const closed = await test_.serve(createRpc(config, test_.context));
  const answer = await rpcCall(closed, 'auth.register', {
    email: 'late@example.com',
    password: 'long enough',
  });
  expect(answer.error).toEqual({ code: -32_000, message: 'registration is closed' });
});

test('a limit that is too large is clamped, and a text that cannot be stored names its field', async () => {
  const { token } = await createTestAccount(test_.context, 'bounds@example.com');
  const { result } = await rpcCall(url, 'usage.list', { limit: 1e18, offset: -5 }, token);
  expect(result).toMatchObject({ limit: 200, offset: 0 });
  const { error } = await rpcCall(url, 'conversations.create', { title: 'a\u0000b' }, token);
  expect(error).toMatchObject({ code: -32_602, data: { issues: [{ path: 'title' }] } });
});
