import { createTestContext, rpcCall, type TestContext } from '@model-gateway/testkit';
import { CLIENT, startProvider, type TestProvider } from '@model-gateway/testkit/oidc';
import { createRpc } from '../../src/app.ts';
import { readRpcConfig } from '../../src/config.ts';
import { openBrowser, type TestBrowser } from './oidc-browser.ts';

export const ADMIN_TOKEN = 'the admin token of the tests';
export const ADMIN_GROUP = 'gateway-admins';
export const PASSWORD = 'a password of the owner';

export let scene: TestContext;
export let provider: TestProvider;
export let url = '';
/** An admin who is not of the provider. */
export let admin: SignedIn;

/** Opens the service with a provider before the tests of a file, and closes both after them. */
export function useOidcScene(): void {
  beforeAll(async () => {
    scene = await createTestContext();
    provider = await startProvider();
    url = await serve();
    provider.allow(url);
    admin = await register('admin@example.com');
  });
  afterAll(async () => {
    await scene.close();
    await provider.stop();
  });
}

export async function serve(env: Readonly<Record<string, string>> = {}): Promise<string> {
  const config = readRpcConfig({
    DATABASE_URL: 'postgres://unused',
    REDIS_URL: 'redis://unused',
    SERVICE_ADMIN_TOKEN: ADMIN_TOKEN,
    SERVICE_OIDC_ISSUER: provider.issuer,
    SERVICE_OIDC_CLIENT_ID: CLIENT.id,
    SERVICE_OIDC_CLIENT_SECRET: CLIENT.secret,
    SERVICE_OIDC_ADMIN_GROUPS: ADMIN_GROUP,
    ...env,
  });
  return scene.serve(createRpc(config, await scene.openPeer()));
}

interface SignedIn {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly user: { readonly id: string; readonly email: string; readonly is_admin: boolean };
}

export const call = (method: string, params: unknown, bearer?: string) =>
  rpcCall(url, method, params, bearer);

export async function done<Result>(
  method: string,
  params: unknown,
  bearer?: string,
): Promise<Result> {
  const { result, error } = await call(method, params, bearer);
  expect({ method, error }).toEqual({ method, error: undefined });
  return result as Result;
}

export const register = (email: string): Promise<SignedIn> =>
  done('auth.register', { email, password: PASSWORD });
export const login = (email: string, password = PASSWORD) =>
  call('auth.login', { email, password });
export const update = (user_id: string, changes: object) =>
  done('users.update', { user_id, ...changes }, admin.access_token);

/** From now on this person signs in at the provider. */
export function become(email: string, claims: Readonly<Record<string, unknown>> = {}): void {
  provider.subject = `subject of ${email}`;
  provider.users.set(provider.subject, { email, email_verified: true, ...claims });
}

interface JsonAnswer extends Partial<SignedIn> {
  readonly status: number;
  readonly error?: { readonly code: string; readonly message: string };
  readonly email?: string;
  readonly link?: unknown;
}

/** Signs the person in with a client that takes JSON alone; the answer of the service. */
export async function enter(base = url, browser = openBrowser()): Promise<JsonAnswer> {
  const visit = await browser.visit(`${base}/auth/oidc/start`, { accept: 'application/json' });
  return { status: visit.status, ...(JSON.parse(visit.text) as object) };
}

export async function entered(): Promise<SignedIn> {
  const answer = await enter();
  expect(answer).toMatchObject({ status: 200 });
  return answer as unknown as SignedIn;
}

/** Sends the password for the account that a sign-in is to be linked with. */
export async function sendPassword(
  browser: TestBrowser,
  password: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<JsonAnswer & { readonly cookies: readonly string[] }> {
  const response = await fetch(`${url}/auth/oidc/link`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json',
      cookie: browser.cookieHeader(new URL(url).host),
      ...headers,
    },
    body: JSON.stringify({ password }),
  });
  return {
    status: response.status,
    cookies: response.headers.getSetCookie(),
    ...((await response.json()) as object),
  };
}

interface Entry {
  readonly actor: string;
  readonly action: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** The audit entries of the provider about an account, the oldest first. */
export async function entriesOf(userId: string): Promise<readonly Entry[]> {
  const log = await done<{ entries: Entry[] }>(
    'audit.list',
    { target: `user:${userId}` },
    ADMIN_TOKEN,
  );
  return log.entries.filter(({ actor }) => actor === 'provider').toReversed();
}
