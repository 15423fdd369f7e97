import { createTestContext, rpcCall, type TestContext } from '@model-gateway/testkit';
import { CLIENT, startProvider, type TestProvider } from '@model-gateway/testkit/oidc';
import { createRpc } from '../../src/app.ts';
import { readRpcConfig } from '../../src/config.ts';
import { openBrowser } from './oidc-browser.ts';

let scene: TestContext;
let provider: TestProvider;
let url = '';

beforeAll(async () => {
  scene = await createTestContext();
  provider = await startProvider();
  const config = readRpcConfig({
    DATABASE_URL: 'postgres://unused',
    REDIS_URL: 'redis://unused',
    SERVICE_OIDC_ISSUER: provider.issuer,
    SERVICE_OIDC_CLIENT_ID: CLIENT.id,
    SERVICE_OIDC_CLIENT_SECRET: CLIENT.secret,
  });
  url = await scene.serve(createRpc(config, scene.context));
  provider.allow(url);
  const account = { email: 'local@example.com', password: 'long enough' };
  await rpcCall(url, 'auth.register', account);
});
afterAll(async () => {
  await scene.close();
  await provider.stop();
});

const become = (email: string): void => {
  provider.subject = `subject of ${email}`;
  provider.users.set(provider.subject, { email, email_verified: true });
};

/** Every answer of the sign-in that a browser shows or follows. */
test.each([
  { what: 'the way to the provider', path: 'start', leadsTo: () => provider.issuer, status: 302 },
  { what: 'the way back', path: 'start', leadsTo: () => `${url}/console/`, status: 302 },
  {
    what: 'the way to the link with an account',
    path: 'start',
    email: 'local@example.com',
    leadsTo: () => `${url}/console/sign-in/link`,
    status: 302,
  },
  { what: 'the page of a failure', path: 'callback?state=unknown', status: 400 },
  {
    what: 'the way out at the provider',
    path: 'logout',
    leadsTo: () => provider.issuer,
    status: 302,
  },
])('$what has the security headers', async ({ path, email = 'new@example.com', ...row }) => {
  become(email);
  const end = row.leadsTo?.();
  const { status, headers } = await openBrowser().visit(`${url}/auth/oidc/${path}`, {
    stopAt: (to) => end !== undefined && to.href.startsWith(end),
  });
  expect(status).toBe(row.status);
  expect(Object.fromEntries(headers)).toMatchObject({
    'content-security-policy': expect.stringMatching(
      /^default-src 'none';.*frame-ancestors 'none'/,
    ),
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
  });
});
