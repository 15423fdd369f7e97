import { newId, sha256Hex } from '@model-gateway/kernel';
import {
  createTestAccount,
  rpcCall,
  type RpcAnswer,
  type TestAccount,
} from '@model-gateway/testkit';
import { ADMIN_TOKEN, openSocket } from '../rpc-server.ts';
import { startTwoServers, type TwoServers } from '../two-servers.ts';

interface Account {
  readonly id: string;
  readonly email: string;
  readonly is_admin: boolean;
  readonly active: boolean;
}

interface SignedIn {
  readonly access_token: string;
  readonly refresh_token: string;
}

const PASSWORD = 'long enough';
const NOT_FOUND = { code: -32_000, message: 'user not found' };
const LAST_ADMIN = {
  code: -32_000,
  message:
    'the last active admin cannot be demoted, deactivated or erased: make another account an admin first',
};
const BAD_LINK = { code: -32_005, message: 'the reset link is invalid, used or expired' };
const WRONG_PASSWORD = {
  code: -32_005,
  message: 'the current password is wrong',
  data: { issues: [{ path: 'current', message: 'the current password is wrong' }] },
};

let servers: TwoServers;
let left = '';
let right = '';
let admin: TestAccount;
beforeAll(async () => {
  servers = await startTwoServers({
    SERVICE_ADMIN_TOKEN: ADMIN_TOKEN,
    SERVICE_PUBLIC_URL: 'https://ai.example.com/',
  });
  [left, right] = servers.urls;
  admin = await account('admin@example.com');
});
afterAll(() => servers.close());

const account = (email: string): Promise<TestAccount> =>
  createTestAccount(servers.test.context, email);

const asAdmin = (method: string, params: object, url = left): Promise<RpcAnswer> =>
  rpcCall(url, method, params, admin.token);

const update = (user_id: string, changes: object, url = left): Promise<RpcAnswer> =>
  asAdmin('users.update', { user_id, ...changes }, url);

const login = (email: string, password = PASSWORD, url = left): Promise<RpcAnswer> =>
  rpcCall(url, 'auth.login', { email, password });

const signIn = async (email: string): Promise<SignedIn> => (await login(email)).result as SignedIn;

/** A call from a client at another address. */
async function callFrom(clientIp: string, method: string, params: object, bearer?: string) {
  const response = await fetch(`${right}/api/rpc`, {
    method: 'POST',
    headers: {
      'x-forwarded-for': clientIp,
      ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  return (await response.json()) as RpcAnswer;
}

describe('the listing of accounts', () => {
  const pageOf = async (params: object) =>
    (await asAdmin('users.list', params)).result as {
      readonly users: readonly Account[];
      readonly has_more: boolean;
      readonly after: string | null;
    };

  test('shows all of them in pages, and finds them by email and name', async () => {
    const marks = ['page-1', 'page-2', 'page-3', 'page-4', 'page-5'];
    for (const mark of marks) await account(`${mark}@pages.example.com`);
    const seen: string[] = [];
    let after: string | null = null;
    do {
      const page = await pageOf({ search: '@PAGES.', limit: 2, after });
      expect(page.users.length).toBeLessThanOrEqual(2);
      expect(page.has_more).toBe(page.after !== null);
      seen.push(...page.users.map(({ email }) => email));
      ({ after } = page);
    } while (after !== null);
    expect(seen).toEqual(marks.map((mark) => `${mark}@pages.example.com`));
    const found = await pageOf({ search: 'page-3@' });
    const [user] = found.users;
    if (user === undefined) throw new Error('the user was not found');
    await update(user.id, { name: 'Grace % Hopper' });
    expect((await pageOf({ search: 'grace %' })).users).toMatchObject([{ id: user.id }]);
    expect((await pageOf({ search: '%' })).users).toHaveLength(1);
    expect((await pageOf({ is_admin: true })).users).toMatchObject([{ email: admin.email }]);
    expect((await pageOf({ search: 'pages.', active: false })).users).toEqual([]);
  });

  test('tells what an admin needs to know of an account, and the admin token may ask too', async () => {
    const { id, token } = await account('shown@example.com');
    await rpcCall(left, 'keys.create', { name: 'k' }, token);
    await login('shown@example.com');
    const { result } = await rpcCall(right, 'users.get', { user_id: id }, ADMIN_TOKEN);
    expect(result).toEqual({
      id,
      email: 'shown@example.com',
      name: '',
      is_admin: false,
      active: true,
      provider_bound: false,
      provider_claim: false,
      tier: 'free',
      created_at: expect.any(String),
      last_sign_in_at: expect.any(String),
      active_keys: 1,
      erased_at: null,
    });
    expect((await asAdmin('users.get', { user_id: newId() })).error).toMatchObject(NOT_FOUND);
    expect((await update(newId(), { name: 'x' })).error).toMatchObject(NOT_FOUND);
  });
});

test('a tier must exist, and the next request has it', async () => {
  const { id, token } = await account('tier@example.com');
  expect((await update(id, { tier: 'gold' })).error).toMatchObject({
    code: -32_000,
    message: 'tier not found',
  });
  expect((await update(id, { tier: 'pro' })).result).toMatchObject({ tier: 'pro' });
  const { result } = await rpcCall(right, 'billing.plan', {}, token);
  expect(result).toMatchObject({ current_tier: 'pro' });
});

describe('the last active admin', () => {
  test.each([{ is_admin: false }, { active: false }])('stays one: %p', async (change) => {
    expect((await update(admin.id, change)).error).toMatchObject(LAST_ADMIN);
  });

  test('is not erased, and a deactivated admin does not count as another one', async () => {
    const { id } = await account('second-admin@example.com');
    expect((await update(id, { is_admin: true, active: false })).result).toMatchObject({
      is_admin: true,
      active: false,
    });
    expect((await asAdmin('users.erase', { user_id: admin.id })).error).toMatchObject(LAST_ADMIN);
    await update(id, { is_admin: false });
  });

  test('is left over when two admins demote each other on two servers at once', async () => {
    const second = await account('mutual@example.com');
    for (let round = 0; round < 5; round += 1) {
      await rpcCall(left, 'users.update', { user_id: second.id, is_admin: true }, ADMIN_TOKEN);
      await rpcCall(left, 'users.update', { user_id: admin.id, is_admin: true }, ADMIN_TOKEN);
      const answers = await Promise.all([
        rpcCall(left, 'users.update', { user_id: admin.id, is_admin: false }, ADMIN_TOKEN),
        rpcCall(right, 'users.update', { user_id: second.id, active: false }, ADMIN_TOKEN),
      ]);
      expect(answers.filter(({ error }) => error !== undefined)).toMatchObject([
        { error: LAST_ADMIN },
      ]);
      await rpcCall(left, 'users.update', { user_id: second.id, active: true }, ADMIN_TOKEN);
    }
    await rpcCall(left, 'users.update', { user_id: admin.id, is_admin: true }, ADMIN_TOKEN);
    await rpcCall(left, 'users.update', { user_id: second.id, is_admin: false }, ADMIN_TOKEN);
  });
});

describe('auth.password.change', () => {
  test('ends the other sign-ins of the user on every server, and keeps its own', async () => {
    await account('changes@example.com');
    const [kept, other] = [
      await signIn('changes@example.com'),
      await signIn('changes@example.com'),
    ];
    const sockets = await Promise.all([
      openSocket(left, other.access_token),
      openSocket(right, other.access_token),
    ]);
    const staying = await openSocket(right, kept.access_token);
    const params = { current: PASSWORD, next: 'a new password' };
    const changed = await rpcCall(left, 'auth.password.change', params, kept.access_token);
    expect(changed.result).toEqual({ ok: true });
    expect(await Promise.all(sockets.map(({ closed }) => closed))).toEqual([4401, 4401]);
    const refresh = (refresh_token: string) => rpcCall(right, 'auth.refresh', { refresh_token });
    expect((await refresh(other.refresh_token)).error).toMatchObject({ code: -32_005 });
    expect((await staying.call('auth.me')).error).toBeUndefined();
    staying.socket.terminate();
    expect((await refresh(kept.refresh_token)).error).toBeUndefined();
    expect((await login('changes@example.com')).error).toMatchObject({ code: -32_005 });
    expect((await login('changes@example.com', 'a new password')).error).toBeUndefined();
  });

  test('counts a wrong current password like a failed login', async () => {
    const { token } = await account('guessed@example.com');
    const guess = (current: string) =>
      callFrom('198.51.100.7', 'auth.password.change', { current, next: 'a new password' }, token);
    for (let count = 0; count < 5; count += 1)
      expect((await guess('wrong')).error).toMatchObject(WRONG_PASSWORD);
    for (const answer of [
      await guess(PASSWORD),
      await callFrom('198.51.100.7', 'auth.login', {
        email: 'guessed@example.com',
        password: PASSWORD,
      }),
    ])
      expect(answer.error).toMatchObject({ code: -32_000, message: 'too many login attempts' });
  });

  test('refuses a password that is too short', async () => {
    const { token } = await account('short@example.com');
    const params = { current: PASSWORD, next: 'short' };
    const { error } = await rpcCall(left, 'auth.password.change', params, token);
    expect(error).toMatchObject({ code: -32_602 });
  });
});

describe('a reset link', () => {
  const linkOf = async (user_id: string) =>
    (await asAdmin('users.reset_link', { user_id })).result as {
      readonly link: string;
      readonly token: string;
      readonly expires_at: string;
    };
  const reset = (token: string, password = 'a reset password', url = right) =>
    rpcCall(url, 'auth.password.reset', { token, password });

  test('sets a password once and ends all sign-ins of the user', async () => {
    const { id } = await account('forgets@example.com');
    const signedIn = await signIn('forgets@example.com');
    const socket = await openSocket(left, signedIn.access_token);
    const { link, token, expires_at } = await linkOf(id);
    expect(link).toBe(`https://ai.example.com/console/reset#${token}`);
    const leftMs = Date.parse(expires_at) - servers.test.context.clock.now();
    expect(leftMs).toBeLessThanOrEqual(3_600_000);
    const answers = await Promise.all([reset(token), reset(token, 'another one', left)]);
    expect(answers.filter(({ error }) => error !== undefined)).toMatchObject([{ error: BAD_LINK }]);
    expect(await socket.closed).toBe(4401);
    expect(
      (await rpcCall(left, 'auth.refresh', { refresh_token: signedIn.refresh_token })).error,
    ).toMatchObject({ code: -32_005 });
    expect((await login('forgets@example.com')).error).toMatchObject({ code: -32_005 });
    expect((await reset(token)).error).toMatchObject(BAD_LINK);
  });

  test('ends after an hour, with the next link, with a change and with the account', async () => {
    const { id, token: bearer } = await account('ends@example.com');
    const { passwords } = servers.test.context.database;
    const replaced = await linkOf(id);
    const expiring = await linkOf(id);
    expect((await reset(replaced.token)).error).toMatchObject(BAD_LINK);
    const worksAt = (at: number) => passwords.hasReset(sha256Hex(expiring.token), new Date(at));
    const expiresAt = Date.parse(expiring.expires_at);
    expect(await Promise.all([worksAt(expiresAt - 1), worksAt(expiresAt)])).toEqual([true, false]);
    const change = { current: PASSWORD, next: 'a new password' };
    expect((await rpcCall(left, 'auth.password.change', change, bearer)).error).toBeUndefined();
    expect((await reset(expiring.token)).error).toMatchObject(BAD_LINK);
    const last = await linkOf(id);
    await update(id, { active: false });
    expect((await asAdmin('users.reset_link', { user_id: id })).error).toMatchObject({
      code: -32_000,
      message: 'the account is deactivated: activate it first',
    });
    await update(id, { active: true });
    expect((await reset(last.token)).error).toMatchObject(BAD_LINK);
    expect((await asAdmin('users.reset_link', { user_id: newId() })).error).toMatchObject(
      NOT_FOUND,
    );
  });

  test('cannot be guessed: failures lock the address', async () => {
    const guess = (token: string) =>
      callFrom('198.51.100.8', 'auth.password.reset', { token, password: 'a new password' });
    for (let count = 0; count < 30; count += 1)
      expect((await guess(`rst-${count}`)).error).toMatchObject(BAD_LINK);
    const { id } = await account('unguessed@example.com');
    const { token } = await linkOf(id);
    expect((await guess(token)).error).toMatchObject({ message: 'too many login attempts' });
    expect((await reset(token)).error).toBeUndefined();
  });

  test.each([
    { how: 'demoted', end: (id: string) => update(id, { is_admin: false }) },
    {
      how: 'demoted for a while',
      async end(id: string) {
        await update(id, { is_admin: false });
        return update(id, { is_admin: true });
      },
    },
    { how: 'deactivated', end: (id: string) => update(id, { active: false }) },
    { how: 'erased', end: (user_id: string) => asAdmin('users.erase', { user_id }) },
  ])('ends when the admin who made it is $how', async ({ how, end }) => {
    const maker = await account(`maker-${how.replaceAll(' ', '-')}@example.com`);
    await update(maker.id, { is_admin: true });
    const { result } = await rpcCall(left, 'users.reset_link', { user_id: admin.id }, maker.token);
    const { token } = result as { readonly token: string };
    expect((await end(maker.id)).error).toBeUndefined();
    expect((await reset(token)).error).toMatchObject(BAD_LINK);
    expect((await login(admin.email)).error).toBeUndefined();
  });

  test('of the admin token is not bound to an admin', async () => {
    const { id } = await account('by-token@example.com');
    const { result } = await rpcCall(left, 'users.reset_link', { user_id: id }, ADMIN_TOKEN);
    expect((await reset((result as { readonly token: string }).token)).error).toBeUndefined();
  });

  test('is stored as a hash', async () => {
    const { id } = await account('hashed@example.com');
    const { token } = await linkOf(id);
    const rows = await servers.test.query('SELECT * FROM password_resets WHERE user_id = $1', [id]);
    expect(rows).toMatchObject([{ token_hash: sha256Hex(token) }]);
    expect(JSON.stringify(rows)).not.toContain(token);
  });
});
