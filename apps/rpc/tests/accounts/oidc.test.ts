import { request } from 'node:http';
import {
  createTestContext,
  rpcCall,
  type TestContext,
  watchForSecrets,
} from '@model-gateway/testkit';
import { createRpc } from '../../src/app.ts';
import { readRpcConfig } from '../../src/config.ts';
import { openBrowser, type Visit } from './oidc-browser.ts';
import {
  CLIENT,
  ID_TOKEN_SECS,
  startProvider,
  type TestProvider,
} from '@model-gateway/testkit/oidc';

watchForSecrets();

const ADDRESS = 'https://gateway.example.com';
const TOLERANCE_SECS = 60;

let scene: TestContext;
let provider: TestProvider;
/** With the address that it is called at. */
let url = '';
/** With an address of its own, as behind a load balancer. */
let replicas: readonly string[] = [];
/** How far the clock of the service is ahead. */
let aheadSecs = 0;

beforeAll(async () => {
  scene = await createTestContext();
  provider = await startProvider();
  url = await serve();
  provider.allow(url);
  provider.allow(ADDRESS);
  replicas = [
    await serve({ SERVICE_PUBLIC_URL: `${ADDRESS}/` }),
    await serve({ SERVICE_PUBLIC_URL: ADDRESS }),
  ];
  // The first account is an admin.
  await call('auth.register', { email: 'first@example.com', password: 'long enough' });
});
beforeEach(() => {
  aheadSecs = 0;
  provider.agrees = true;
});
afterAll(async () => {
  await scene.close();
  await provider.stop();
});

async function serve(env: Readonly<Record<string, string>> = {}): Promise<string> {
  const config = readRpcConfig({
    DATABASE_URL: 'postgres://unused',
    REDIS_URL: 'redis://unused',
    SERVICE_OIDC_ISSUER: provider.issuer,
    SERVICE_OIDC_CLIENT_ID: CLIENT.id,
    SERVICE_OIDC_CLIENT_SECRET: CLIENT.secret,
    SERVICE_OIDC_ALLOWED_DOMAINS: 'example.com, example.org',
    ...env,
  });
  const clock = { now: () => Date.now() + aheadSecs * 1000 };
  return scene.serve(createRpc(config, { ...(await scene.openPeer()), clock }));
}

const call = (method: string, params: unknown, bearer?: string) =>
  rpcCall(url, method, params, bearer);

/** From now on this user signs in at the provider. */
function become(email: string, claims: Readonly<Record<string, unknown>> = {}): void {
  provider.subject = `subject of ${email}`;
  provider.users.set(provider.subject, {
    email,
    email_verified: true,
    name: `Name of ${email}`,
    ...claims,
  });
}

interface SignedIn {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly user: { readonly id: string; readonly email: string; readonly is_admin: boolean };
}

const start = (base = url): string => `${base}/auth/oidc/start`;
const signInForJson = (browser = openBrowser()): Promise<Visit> =>
  browser.visit(start(), { accept: 'application/json' });
/** Signs the user in; the answer of the callback. */
async function signIn(): Promise<SignedIn> {
  const { status, text } = await signInForJson();
  expect({ status, text }).toMatchObject({ status: 200 });
  return JSON.parse(text) as SignedIn;
}
const atCallback = (at: URL): boolean => at.pathname === '/auth/oidc/callback';
const atConsole = (at: URL): boolean => at.pathname.startsWith('/console/');
const errorOf = ({ text }: Visit): unknown =>
  (JSON.parse(text) as { readonly error: { readonly code: string } }).error.code;

test('the sign-in page of the console learns that there is a provider', async () => {
  const response = await fetch(`${url}/api/session`, { headers: { origin: url } });
  expect(await response.json()).toMatchObject({ provider: new URL(provider.issuer).host });
});

test('a first sign-in creates an account, and the browser returns with the session of the console', async () => {
  become('New@Example.com');
  const browser = openBrowser();
  const { status, url: end } = await browser.visit(`${start()}?return_to=/console/keys%3Fpage=2`, {
    stopAt: atConsole,
  });
  expect(status).toBe(302);
  expect(`${end.pathname}${end.search}`).toBe('/console/keys?page=2');
  const session = browser.setCookies.find((header) => header.startsWith('service_session_'));
  expect(session).toMatch(
    /^service_session_\w+=[\w-]{43}; HttpOnly; SameSite=Strict; Path=\/api\/session; Max-Age=604800$/,
  );
  const refreshed = await fetch(`${url}/api/session/refresh`, {
    method: 'POST',
    headers: { cookie: session?.split(';')[0] ?? '', origin: url },
  });
  expect(await refreshed.json()).toMatchObject({
    user: { email: 'new@example.com', name: 'Name of New@Example.com', is_admin: false },
  });
  // The state of the sign-in is used up.
  expect(browser.setCookies.at(-2)).toMatch(/^service_oidc_\w+=; HttpOnly; SameSite=Lax/);
});

test('a client that takes JSON alone gets the answer of auth.login, and no cookie', async () => {
  become('json@example.com');
  const browser = openBrowser();
  const { headers, text } = await signInForJson(browser);
  expect(headers.get('cache-control')).toBe('no-store');
  expect(JSON.parse(text)).toEqual({
    access_token: expect.any(String),
    refresh_token: expect.stringMatching(/^[\w-]{43}$/),
    token_type: 'Bearer',
    expires_in: 900,
    user: {
      id: expect.any(String),
      email: 'json@example.com',
      name: 'Name of json@example.com',
      is_admin: false,
    },
  });
  expect(browser.setCookies.filter((header) => header.startsWith('service_session'))).toEqual([]);
  const { access_token } = JSON.parse(text) as SignedIn;
  expect((await call('auth.me', {}, access_token)).result).toMatchObject({
    email: 'json@example.com',
  });
});

test('sign-ins at the same time create one account', async () => {
  become('twice@example.com');
  const ids = await Promise.all([signIn(), signIn(), signIn()]);
  expect(new Set(ids.map(({ user }) => user.id)).size).toBe(1);
});

test('any replica finishes a sign-in, in the browser that began it and in no other', async () => {
  become('replica@example.com');
  const [first = '', second = ''] = replicas;
  const browser = openBrowser();
  const { url: back } = await browser.visit(start(first), { stopAt: atCallback });
  expect(back.origin).toBe(ADDRESS);
  const cookie = browser.setCookies.find((header) => header.startsWith('service_oidc_')) ?? '';
  expect(cookie).toMatch(/; HttpOnly; SameSite=Lax; Path=\/auth\/oidc; Max-Age=600; Secure$/);
  const finish = (base: string, cookies: string) =>
    fetch(`${base}${back.pathname}${back.search}`, {
      redirect: 'manual',
      headers: { accept: 'application/json', cookie: cookies },
    });
  const other = openBrowser();
  await other.visit(start(second), { stopAt: atCallback });
  const foreign = other.setCookies.find((header) => header.startsWith('service_oidc_')) ?? '';
  for (const cookies of ['', foreign.split(';')[0] ?? '', 'service_oidc_=x']) {
    const refused = await finish(second, cookies);
    expect({ cookies, status: refused.status }).toEqual({ cookies, status: 400 });
  }
  const own = cookie.split(';')[0] ?? '';
  const finished = await finish(second, own);
  expect(((await finished.json()) as SignedIn).user.email).toBe('replica@example.com');
  // The code works once, even where the browser kept the cookie.
  expect((await finish(first, own)).status).toBe(403);
});

test('the answer to a sign-in that another tab has replaced does not end the one of that tab', async () => {
  become('tabs@example.com');
  const browser = openBrowser();
  const { url: earlier } = await browser.visit(start(), { stopAt: atCallback });
  const { url: later } = await browser.visit(start(), { stopAt: atCallback });
  expect((await browser.visit(earlier.href)).status).toBe(400);
  const finished = await browser.visit(later.href, { accept: 'application/json' });
  expect(finished.status).toBe(200);
  // Its own answer ends it.
  expect((await browser.visit(later.href)).status).toBe(400);
});

test('an email address is as verified as the answer says that has it', async () => {
  become('unverified@example.com', { email_verified: undefined });
  provider.differ({ email: 'attacker@example.com', email_verified: true });
  const visit = await signInForJson();
  expect({ status: visit.status, code: errorOf(visit) }).toEqual({
    status: 403,
    code: 'sign_in_refused',
  });
  // In lower case by Unicode rules, the Kelvin sign is a k.
  become('kevin@example.com', { email_verified: undefined });
  provider.differ({ email: '\u212Aevin@example.com', email_verified: true });
  expect((await signInForJson()).status).toBe(403);
  provider.differ({ email: 'Kevin@example.com', email_verified: true });
  expect((await signIn()).user.email).toBe('kevin@example.com');
  provider.differ(undefined);
});

test.each([
  {
    why: 'an email that is not verified',
    email: 'a@example.com',
    claims: { email_verified: false },
  },
  { why: 'another domain', email: 'a@elsewhere.example', claims: {} },
  { why: 'a domain below an allowed one', email: 'a@sub.example.com', claims: {} },
  { why: 'no email', email: 'b@example.com', claims: { email: undefined } },
])('$why is refused, and creates no account', async ({ email, claims }) => {
  become(email, claims);
  const visit = await signInForJson();
  expect({ status: visit.status, code: errorOf(visit) }).toEqual({
    status: 403,
    code: 'sign_in_refused',
  });
  expect(await scene.context.database.users.findByEmail(email)).toBeUndefined();
});

test('a deactivated user is refused', async () => {
  become('gone@example.com');
  const { user } = await signIn();
  const login = { email: 'first@example.com', password: 'long enough' };
  const { access_token } = (await call('auth.login', login)).result as SignedIn;
  const update = { user_id: user.id, active: false };
  expect((await call('users.update', update, access_token)).error).toBeUndefined();
  const visit = await signInForJson();
  expect({ status: visit.status, text: visit.text }).toMatchObject({
    status: 403,
    text: expect.stringContaining('this account is deactivated; ask an admin'),
  });
});

test('a user who does not agree gets a page that says so', async () => {
  become('no@example.com');
  provider.agrees = false;
  const { status, headers, text } = await openBrowser().visit(start());
  expect(status).toBe(403);
  expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(headers.get('content-security-policy')).toContain("default-src 'none'");
  expect(text).toContain('the identity provider refused the sign-in (access_denied)');
});

test('the provider can replace its keys at any time', async () => {
  become('keys@example.com');
  await signIn();
  provider.rotateKeys();
  await signIn();
});

test('clocks may differ by a minute', async () => {
  become('clock@example.com');
  aheadSecs = ID_TOKEN_SECS + TOLERANCE_SECS / 2;
  await signIn();
  aheadSecs = ID_TOKEN_SECS + TOLERANCE_SECS + 30;
  expect((await signInForJson()).status).toBe(403);
});

test('a client that sends its secret in the form works too', async () => {
  provider.register({ token_endpoint_auth_method: 'client_secret_post' });
  become('post@example.com');
  try {
    await signIn();
  } finally {
    provider.register({});
  }
});

test('while the provider is away the page says so, and passwords work', async () => {
  become('away@example.com');
  const browser = openBrowser();
  const { url: back } = await browser.visit(start(), { stopAt: atCallback });
  await provider.stop();
  try {
    const interrupted = await browser.visit(back.href, { accept: 'application/json' });
    expect({ status: interrupted.status, code: errorOf(interrupted) }).toEqual({
      status: 503,
      code: 'identity_provider_unavailable',
    });
    // What was discovered before is not used for longer than a minute.
    aheadSecs = 300;
    const { status, text } = await openBrowser().visit(start());
    expect(status).toBe(503);
    expect(text).toContain('Accounts with a password can sign in with it.');
    expect(text).toContain('<a href="/console/">');
    const login = { email: 'first@example.com', password: 'long enough' };
    expect((await call('auth.login', login)).error).toBeUndefined();
  } finally {
    await provider.resume();
  }
  aheadSecs = 0;
  await signIn();
});

test('signing out at the provider makes it ask again', async () => {
  become('out@example.com');
  const browser = openBrowser();
  await signInForJson(browser);
  const before = provider.promptCount;
  await signInForJson(browser);
  expect(provider.promptCount).toBe(before);
  const { status, url: page, text } = await browser.visit(`${url}/auth/oidc/logout`);
  expect({ status, origin: page.origin }).toEqual({ status: 200, origin: provider.issuer });
  const xsrf = /name="xsrf" value="(\w+)"/.exec(text)?.[1] ?? '';
  const confirmed = await browser.post(`${provider.issuer}/session/end/confirm`, {
    xsrf,
    logout: 'yes',
  });
  expect(confirmed).toBe(`${url}/console/`);
  await signInForJson(browser);
  expect(provider.promptCount).toBe(before + 1);
});

test.each([
  { path: '/start?return_to=https://elsewhere.example/', status: 400 },
  { path: '/start?return_to=//elsewhere.example/', status: 400 },
  { path: '/callback', status: 400 },
  { path: '/callback?code=a&state=b', status: 400 },
  { path: '/other', status: 404 },
])('GET /auth/oidc$path is $status', async ({ path, status }) => {
  const response = await fetch(`${url}/auth/oidc${path}`, { redirect: 'manual' });
  expect(response.status).toBe(status);
});

test('only GET begins a sign-in, and only at a known address', async () => {
  expect((await fetch(start(), { method: 'POST' })).status).toBe(405);
  const { status, text } = await browseAs('gateway.internal');
  expect({ status, text }).toMatchObject({ status: 400 });
  expect(text).toContain('SERVICE_PUBLIC_URL');
});

/** Begins a sign-in with a `Host` header, which fetch does not let a caller choose. */
function browseAs(host: string): Promise<{ readonly status: number; readonly text: string }> {
  return new Promise((resolve, reject) => {
    request(start(), { headers: { host } }, (response) => {
      let body = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (body += chunk));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text: body }));
    })
      .on('error', reject)
      .end();
  });
}

test('without a provider there is no such sign-in', async () => {
  const without = await serve({ SERVICE_OIDC_ISSUER: '' });
  expect((await fetch(start(without))).status).toBe(404);
});

test('a provider needs a client id', () => {
  const stores = { DATABASE_URL: 'postgres://unused', REDIS_URL: 'redis://unused' };
  expect(() => readRpcConfig({ ...stores, SERVICE_OIDC_ISSUER: 'https://id.example.com' })).toThrow(
    'SERVICE_OIDC_CLIENT_ID is required with SERVICE_OIDC_ISSUER',
  );
  expect(() => readRpcConfig({ ...stores, SERVICE_OIDC_SCOPES: 'email' })).toThrow(
    'SERVICE_OIDC_SCOPES must be scopes separated by spaces, of which one is openid',
  );
});
