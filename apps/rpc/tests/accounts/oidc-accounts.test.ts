import { openBrowser } from './oidc-browser.ts';
import {
  ADMIN_GROUP,
  ADMIN_TOKEN,
  PASSWORD,
  admin,
  become,
  call,
  done,
  enter,
  entered,
  entriesOf,
  login,
  provider,
  register,
  scene,
  sendPassword,
  serve,
  update,
  url,
  useOidcScene,
} from './oidc-scene.ts';

// Whose account a person of the identity provider signs in to, and who else can use it then.

useOidcScene();

const WRONG = { code: -32_005, message: 'invalid email or password' };

const OTHER_PERSON = {
  status: 403,
  error: {
    code: 'sign_in_refused',
    message: 'the account with this email belongs to another person of the provider; ask an admin',
  },
};

describe('an account that the provider created', () => {
  test('is found by the subject, whatever the address of the person is now', async () => {
    become('moves@example.com');
    const { user } = await entered();
    provider.users.set(provider.subject, { email: 'moved@example.com', email_verified: true });
    expect((await entered()).user).toMatchObject({ id: user.id, email: 'moves@example.com' });
    expect(await entriesOf(user.id)).toEqual([]);
  });

  test('is refused to another subject with its address, until an admin decides', async () => {
    become('recycled@example.com', { groups: [ADMIN_GROUP] });
    const first = await entered();
    expect(first.user.is_admin).toBe(true);
    provider.subject = 'the next person';
    provider.users.set('the next person', { email: 'Recycled@example.com', email_verified: true });
    expect(await enter()).toMatchObject(OTHER_PERSON);
    expect((await call('auth.me', {}, first.access_token)).error).toBeUndefined();
    await update(first.user.id, { provider_claim: true });
    const next = await entered();
    // The role was of the first person.
    expect(next.user).toMatchObject({ id: first.user.id, is_admin: false });
    expect((await call('auth.me', {}, first.access_token)).error).toMatchObject({ code: -32_005 });
    become('recycled@example.com');
    expect(await enter()).toMatchObject(OTHER_PERSON);
  });
});

describe('a local account with the address of the person', () => {
  test('is linked with its password, given once', async () => {
    const { user } = await register('linked@example.com');
    become('LINKED@example.com', { groups: [ADMIN_GROUP] });
    const browser = openBrowser();
    expect(await enter(url, browser)).toMatchObject({
      status: 409,
      error: { code: 'account_exists' },
      email: 'linked@example.com',
      link: { method: 'POST', path: '/auth/oidc/link', fields: ['password'] },
    });
    const before = await done<{ is_admin: boolean; provider_bound: boolean }>(
      'users.get',
      { user_id: user.id },
      ADMIN_TOKEN,
    );
    expect(before).toMatchObject({ is_admin: false, provider_bound: false });
    const linked = await sendPassword(browser, PASSWORD);
    expect(linked).toMatchObject({ status: 200, user: { id: user.id, is_admin: true } });
    expect((await call('auth.me', {}, linked.access_token)).result).toMatchObject({ id: user.id });
    expect((await login('linked@example.com')).error).toBeUndefined();
    expect((await entered()).user.id).toBe(user.id);
    expect(await entriesOf(user.id)).toMatchObject([
      {
        action: 'provider.link',
        before: { is_admin: false, provider_bound: false },
        after: { is_admin: true, provider_bound: true },
      },
    ]);
  });

  test('is not linked with a wrong password, and few can be tried', async () => {
    const { user } = await register('guarded@example.com');
    become('guarded@example.com', { groups: [ADMIN_GROUP] });
    const browser = openBrowser();
    expect((await enter(url, browser)).status).toBe(409);
    for (let count = 0; count < 5; count += 1) {
      expect(await sendPassword(browser, 'a wrong password')).toMatchObject({
        status: 401,
        error: { message: 'the password is wrong' },
      });
    }
    expect(await sendPassword(browser, PASSWORD)).toMatchObject({
      status: 429,
      error: { code: 'too_many_login_attempts' },
    });
    expect(await enter()).toMatchObject({ status: 409 });
    expect(await entriesOf(user.id)).toEqual([]);
  });

  test('is linked in the browser that signed in at the provider, by a page of this service', async () => {
    await register('browser@example.com');
    become('browser@example.com');
    const browser = openBrowser();
    const { url: page } = await browser.visit(`${url}/auth/oidc/start?return_to=/console/keys`, {
      stopAt: ({ pathname }) => pathname.startsWith('/console/'),
    });
    expect(page.href).toBe(`${url}/console/sign-in/link`);
    expect(browser.setCookies.find((header) => header.startsWith('service_oidc_link_'))).toMatch(
      /; HttpOnly; SameSite=Strict; Path=\/auth\/oidc\/link; Max-Age=600$/,
    );
    const shown = await browser.visit(`${url}/auth/oidc/link`);
    expect(JSON.parse(shown.text)).toEqual({
      email: 'browser@example.com',
      provider: new URL(provider.issuer).host,
    });
    expect(await sendPassword(openBrowser(), PASSWORD)).toMatchObject({ status: 400 });
    const foreign = { origin: 'https://elsewhere.example' };
    expect(await sendPassword(browser, PASSWORD, foreign)).toMatchObject({ status: 403 });
    const linked = await sendPassword(browser, PASSWORD, { accept: '*/*', origin: url });
    expect(linked).toMatchObject({ status: 200, return_to: '/console/keys' });
    expect(linked.access_token).toBeUndefined();
    expect(linked.cookies).toEqual([
      expect.stringMatching(/^service_oidc_link_\w+=; /),
      expect.stringMatching(/^service_session_\w+=[\w-]{43}; HttpOnly; SameSite=Strict/),
    ]);
  });

  test.each([
    { why: 'closed', env: { SERVICE_REGISTRATION_OPEN: 'false' } },
    { why: 'open', env: { SERVICE_REGISTRATION_OPEN: 'true' } },
  ])('is not taken while registration is $why', async ({ why, env }) => {
    const email = `registered-${why}@example.com`;
    await register(email);
    const base = await serve(env);
    provider.allow(base);
    become(email.toUpperCase());
    expect(await enter(base)).toMatchObject({ status: 409, error: { code: 'account_exists' } });
  });

  test('is not found by an address that is another one before it is in lower case', async () => {
    await register('kevin@example.com');
    become('\u212Aevin@example.com');
    expect(await enter()).toMatchObject({ status: 403, error: { code: 'sign_in_refused' } });
  });
});

test('who squats the address of an admin has nothing of the account that an admin lets the person claim', async () => {
  const email = 'boss@example.com';
  const owner = await register('group-owner@example.com');
  const squatter = await register('Boss@Example.com');
  const bearer = squatter.access_token;
  const key = await done<{ id: string }>('keys.create', { name: 'k' }, bearer);
  const invited = async (name: string) => {
    const group = await done<{ id: string }>('group.create', { name }, owner.access_token);
    const invitation = await done<{ token: string }>(
      'group.invite.create',
      { group_id: group.id, email, role: 'admin' },
      owner.access_token,
    );
    await done('group.invite.accept', { token: invitation.token }, bearer);
    return group.id;
  };
  const groupId = await invited('Finance');
  const groupKey = await done<{ id: string }>(
    'keys.create',
    { name: 'of the group', group_id: groupId },
    bearer,
  );
  const own = await done<{ id: string }>('group.create', { name: 'Trap' }, bearer);
  const handedOut = await done<{ token: string }>(
    'group.invite.create',
    { group_id: groupId, role: 'admin' },
    bearer,
  );
  const reset = await done<{ token: string }>(
    'users.reset_link',
    { user_id: squatter.user.id },
    admin.access_token,
  );

  become(email, { groups: [ADMIN_GROUP] });
  expect(await enter()).toMatchObject({ status: 409, error: { code: 'account_exists' } });
  // The role is not given to the account of the squatter.
  expect((await call('users.list', {}, bearer)).error).toMatchObject({ code: -32_007 });

  await update(squatter.user.id, { provider_claim: true });
  const boss = await entered();
  expect(boss.user).toMatchObject({ id: squatter.user.id, email, is_admin: true });

  expect((await login(email)).error).toMatchObject(WRONG);
  expect((await call('auth.me', {}, bearer)).error).toMatchObject({ code: -32_005 });
  const { refresh_token } = squatter;
  expect((await call('auth.refresh', { refresh_token })).error).toMatchObject({ code: -32_005 });
  const reuse = { token: reset.token, password: 'another password' };
  expect((await call('auth.password.reset', reuse)).error).toMatchObject({ code: -32_005 });
  const keys = await done<{ id: string; revoked_at: string | null }[]>(
    'keys.list',
    {},
    boss.access_token,
  );
  expect(keys.filter(({ revoked_at }) => revoked_at === null)).toEqual([]);
  expect(keys.map(({ id }) => id).toSorted()).toEqual([key.id, groupKey.id].toSorted());
  const members = await scene.query('SELECT group_id FROM group_members WHERE user_id = $1', [
    boss.user.id,
  ]);
  expect(members).toEqual([]);
  const owners = await scene.query('SELECT owner_id FROM groups WHERE id = $1', [own.id]);
  expect(owners).not.toEqual([{ owner_id: boss.user.id }]);
  const late = await register('late@example.com');
  expect(
    (await call('group.invite.accept', { token: handedOut.token }, late.access_token)).error,
  ).toBeDefined();

  expect(await entriesOf(boss.user.id)).toMatchObject([
    {
      action: 'provider.take_over',
      before: { is_admin: false, provider_bound: false },
      after: { is_admin: true, provider_bound: true },
    },
  ]);
  // The claim is used up, and the account is that of the person.
  expect((await entered()).user.id).toBe(boss.user.id);
  expect(await done('users.get', { user_id: boss.user.id }, ADMIN_TOKEN)).toMatchObject({
    provider_bound: true,
    provider_claim: false,
  });
});

describe('a claim', () => {
  test('can be withdrawn, and ends with the role of the admin who allowed it', async () => {
    const { user } = await register('claimed@example.com');
    become('claimed@example.com');
    await update(user.id, { provider_claim: true });
    await update(user.id, { provider_claim: false });
    expect((await enter()).status).toBe(409);
    const other = await register('other-admin@example.com');
    await update(other.user.id, { is_admin: true });
    const allow = { user_id: user.id, provider_claim: true };
    expect(await done('users.update', allow, other.access_token)).toMatchObject({
      provider_claim: true,
    });
    await update(other.user.id, { is_admin: false });
    expect(await done('users.get', { user_id: user.id }, ADMIN_TOKEN)).toMatchObject({
      provider_claim: false,
    });
    expect((await enter()).status).toBe(409);
    await done('users.update', allow, ADMIN_TOKEN);
    expect((await entered()).user.id).toBe(user.id);
  });

  test('is used once by sign-ins at the same time', async () => {
    const { user } = await register('raced@example.com');
    become('raced@example.com');
    await update(user.id, { provider_claim: true });
    const all = await Promise.all([entered(), entered(), entered()]);
    expect(new Set(all.map((one) => one.user.id))).toEqual(new Set([user.id]));
    expect(await entriesOf(user.id)).toHaveLength(1);
  });
});

test('a person who was erased gets a new account', async () => {
  become('erased@example.com');
  const { user } = await entered();
  await done('users.erase', { user_id: user.id }, ADMIN_TOKEN);
  expect((await entered()).user.id).not.toBe(user.id);
});
