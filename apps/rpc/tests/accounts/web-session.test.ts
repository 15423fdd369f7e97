import { manualClock } from '@model-gateway/kernel';
import { watchForSecrets } from '@model-gateway/testkit';
import { createRpc } from '../../src/app.ts';
import { readRpcConfig } from '../../src/config.ts';
import { ADMIN_TOKEN, openSocket, startRpc, type RpcServer } from '../rpc-server.ts';

watchForSecrets();

let rpc: RpcServer;
beforeAll(async () => {
  rpc = await startRpc({ SERVICE_CORS_ORIGINS: 'https://app.example.com' });
});
afterAll(() => rpc.test.close());

interface Session {
  readonly status: number;
  readonly headers: Headers;
  /** Of the response's cookie: name and value, and everything. */
  readonly pair: string;
  readonly cookie: string | null;
  readonly body: {
    readonly access_token: string;
    readonly user: { readonly email: string };
    readonly error?: { readonly code: string; readonly message: string };
  };
}

interface SessionRequest {
  readonly method?: string;
  readonly body?: object;
  readonly cookie?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly base?: string;
}

async function session(path: string, request: SessionRequest = {}): Promise<Session> {
  const { method = 'POST', body, cookie, headers = {}, base = rpc.url } = request;
  const response = await fetch(`${base}/api/session${path}`, {
    method,
    headers: {
      'content-type': 'application/json',
      ...(cookie === undefined ? {} : { cookie: `other=1; ${cookie}` }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const set = response.headers.get('set-cookie');
  return {
    status: response.status,
    headers: response.headers,
    pair: set?.split(';')[0] ?? '',
    cookie: set,
    body: (await response.json()) as Session['body'],
  };
}

const password = 'long enough';
async function signIn(email: string, base = rpc.url): Promise<Session> {
  await rpc.createAccount(email);
  return session('', { body: { email, password }, base });
}
const isSignedIn = async ({ body }: Session): Promise<boolean> =>
  (await rpc.call('auth.me', {}, body.access_token)).error === undefined;

test('the refresh token is in a cookie that no script can read, and nowhere else', async () => {
  const signedIn = await signIn('cookie@example.com');
  expect(signedIn.status).toBe(200);
  expect(signedIn.cookie).toMatch(
    /^service_session_[0-9a-f]{8}=[\w-]{43}; HttpOnly; SameSite=Strict; Path=\/api\/session; Max-Age=604800$/,
  );
  expect(signedIn.headers.get('cache-control')).toBe('no-store');
  expect(signedIn.body).toEqual({
    access_token: expect.any(String),
    token_type: 'Bearer',
    expires_in: 900,
    user: expect.objectContaining({ email: 'cookie@example.com' }),
  });
  expect(await isSignedIn(signedIn)).toBe(true);
});

test('registering opens a session, too; the admin token counts as with auth.register', async () => {
  const { url } = rpc;
  const applicant = { email: 'new@example.com', password, name: 'New' };
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, origin: new URL(url).origin };
  const signedIn = await session('/register', { body: applicant, headers });
  expect(signedIn.status).toBe(200);
  expect(signedIn.pair).toMatch(/^service_session_/);
  expect(await isSignedIn(signedIn)).toBe(true);
  const again = await session('/register', { body: applicant });
  expect([again.status, again.body.error?.code, again.cookie]).toEqual([409, 'email_taken', null]);
});

test('a session goes on with its cookie, also after a response was lost or with two pages at once', async () => {
  const { pair } = await signIn('goes-on@example.com');
  const [one, other] = await Promise.all([
    session('/refresh', { cookie: pair }),
    session('/refresh', { cookie: pair }),
  ]);
  expect([one.status, other.status]).toEqual([200, 200]);
  expect(one.pair).not.toBe(pair);
  expect(other.pair).toBe(one.pair);
  expect(await isSignedIn(one)).toBe(true);
  const next = await session('/refresh', { cookie: one.pair });
  expect(next.status).toBe(200);
  // A token whose successor was used is a stolen one.
  const stolen = await session('/refresh', { cookie: pair });
  expect([stolen.status, stolen.body.error?.code]).toEqual([401, 'unauthorized']);
  expect(stolen.cookie).toContain('Max-Age=0');
  expect((await session('/refresh', { cookie: next.pair })).status).toBe(401);
  expect(await isSignedIn(next)).toBe(false);
});

test('a used cookie is worth nothing after half a minute', async () => {
  const clock = manualClock(Date.now());
  const config = readRpcConfig({ DATABASE_URL: 'postgres://unused', REDIS_URL: 'redis://unused' });
  const base = await rpc.test.serve(createRpc(config, { ...rpc.test.context, clock }));
  const { pair } = await signIn('late@example.com', base);
  const refreshed = await session('/refresh', { cookie: pair, base });
  clock.advance(30_000);
  expect((await session('/refresh', { cookie: pair, base })).status).toBe(401);
  expect((await session('/refresh', { cookie: refreshed.pair, base })).status).toBe(401);
});

test('signing out ends the tokens and sockets of the session, and no other', async () => {
  const email = 'out@example.com';
  const first = await signIn(email);
  const other = await session('', { body: { email, password } });
  const { closed } = await openSocket(rpc.url, first.body.access_token);
  const out = await session('', { method: 'DELETE', cookie: first.pair });
  expect([out.status, out.cookie]).toEqual([200, expect.stringContaining('Max-Age=0')]);
  expect(await closed).toBe(4401);
  expect(await isSignedIn(first)).toBe(false);
  expect((await session('/refresh', { cookie: first.pair })).status).toBe(401);
  expect(await isSignedIn(other)).toBe(true);
  // Without a session there is nothing to end.
  expect((await session('', { method: 'DELETE' })).status).toBe(200);
});

test('a page learns what is possible before a user is signed in', async () => {
  await rpc.createAccount('somebody@example.com');
  const { status, body } = await session('', { method: 'GET' });
  expect([status, body]).toEqual([
    200,
    { is_new: false, registration_open: true, first_admin: 'anyone', provider: null },
  ]);
});

test('without a cookie there is no session', async () => {
  const refused = await session('/refresh');
  expect([refused.status, refused.body.error?.message]).toEqual([
    401,
    'there is no session: sign in',
  ]);
});

test.each([
  { why: 'a foreign page', origin: 'https://evil.example' },
  { why: 'a page that may call the API', origin: 'https://app.example.com' },
  { why: 'a page on another port of this machine', origin: 'http://127.0.0.1:1' },
  { why: 'a page without an origin', origin: 'null' },
])('$why can neither open, use nor end a session', async ({ origin }) => {
  const email = `${new URL(origin === 'null' ? 'http://none' : origin).hostname}@example.com`;
  const { pair: cookie } = await signIn(email);
  const headers = { origin };
  const refused = [
    await session('', { body: { email, password }, headers }),
    await session('/register', { body: { email: `x${email}`, password }, headers }),
    await session('/refresh', { cookie, headers }),
    await session('', { method: 'DELETE', cookie, headers }),
  ];
  for (const { status, body, pair } of refused)
    expect([status, body.error?.code, pair]).toEqual([403, 'origin_not_allowed', '']);
  expect((await session('/refresh', { cookie })).status).toBe(200);
});

test.each([
  { sent: { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'gw.example.com' }, isSecure: true },
  { sent: { 'x-forwarded-proto': 'http' }, isSecure: false },
])('the cookie is only sent over https where the page came so: $sent', async (request) => {
  const email = `${request.isSecure}@example.com`;
  await rpc.createAccount(email);
  const { cookie } = await session('', { body: { email, password }, headers: request.sent });
  expect(cookie?.endsWith('; Secure')).toBe(request.isSecure);
});

test('the limits of signing in hold', async () => {
  const email = 'limits@example.com';
  await rpc.createAccount(email);
  const attempt = () => session('', { body: { email, password: 'wrong' } });
  for (let count = 0; count < 5; count += 1) expect((await attempt()).status).toBe(401);
  const refused = await attempt();
  expect([refused.status, refused.body.error?.code]).toEqual([429, 'too_many_login_attempts']);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
});

test.each([
  { why: 'no JSON', init: { method: 'POST', body: '{' }, status: 400 },
  { why: 'no password', init: { method: 'POST', body: '{"email":"a@example.com"}' }, status: 400 },
  { why: 'another method', init: { method: 'PUT' }, status: 405 },
  { why: 'too much', init: { method: 'POST', body: 'x'.repeat(20_000) }, status: 413 },
])('a request with $why is refused', async ({ init, status }) => {
  expect((await fetch(`${rpc.url}/api/session`, init)).status).toBe(status);
});
