import { createAccessTokens } from '@model-gateway/accounts';
import { manualClock, newId, randomToken, sha256Hex, systemClock } from '@model-gateway/kernel';
import { PROBE_PATHS } from '@model-gateway/http';
import { createTestAccount } from '@model-gateway/testkit';
import { OPERATIONS, type Operation } from '../src/docs/operations.ts';
import { CONSOLE_ROUTES } from '../src/console/console-routes.ts';
import { DOCS_ROUTES } from '../src/docs/routes.ts';
import { ADMIN_TOKEN, keysOf, startGateway, type GatewayUnderTest } from './gateway.ts';
import { recordMounts, type MountedRoute } from './mounted-routes.ts';

// Every declared operation is tried with every kind of credential. A new operation is part of this by being declared, and what
// is served without being declared is found.

const ACCEPTED = {
  apiKey: ['API key', 'API key of a platform admin'],
  accessToken: ['user', 'platform admin'],
  adminToken: ['admin token'],
} as const satisfies Record<Operation['security'][number], readonly string[]>;

/** Pages that are open to everybody and have no data of users. */
const PAGES: readonly string[] = [...DOCS_ROUTES, ...CONSOLE_ROUTES, '/metrics'];

let gateway: GatewayUnderTest;
let mounted: readonly MountedRoute[];
let credentials: Readonly<Record<string, string | undefined>>;
beforeAll(async () => {
  const mounts = recordMounts();
  gateway = await startGateway({ SERVICE_API_RATE_LIMIT_RPM: '100000' });
  mounted = mounts.read();
  mounts.restore();
  const { jwtSecret: secret } = gateway.test.context;
  const valid = createAccessTokens({ secret, expiresInSecs: 900, clock: systemClock });
  const expired = createAccessTokens({ secret, expiresInSecs: 1, clock: manualClock(0) });
  const keys = keysOf(gateway.test);
  const revoked = await keys.create({ userId: gateway.userId, name: 'revoked' });
  await keys.revoke(gateway.userId, revoked.key.id);
  // The first account of a database.
  const admin = valid.sign(gateway.userId);
  const deactivated = await createTestAccount(gateway.test.context, 'deactivated@example.com');
  const keyOfDeactivated = await keys.create({ userId: deactivated.id, name: 'deactivated' });
  await gateway.test.context.database.userDirectory.update(
    deactivated.id,
    { isActive: false },
    new Date(),
  );
  const user = await createTestAccount(gateway.test.context, 'user@example.com');
  const keyOfUser = await keys.create({ userId: user.id, name: 'user' });
  credentials = {
    none: undefined,
    user: user.token,
    'platform admin': admin,
    'API key': keyOfUser.secret,
    'API key of a platform admin': gateway.key,
    'admin token': ADMIN_TOKEN,
    'revoked key': revoked.secret,
    'expired token': expired.sign(gateway.userId),
    'tampered token': `${admin.slice(0, -2)}xx`,
    'refresh token': await refreshToken(),
    'node token': await nodeToken(),
    'token of a deactivated user': deactivated.token,
    'key of a deactivated user': keyOfDeactivated.secret,
    'the key without its last character': gateway.key.slice(0, -1),
  };
});
afterAll(() => gateway.test.close());

async function refreshToken(): Promise<string> {
  const token = randomToken(32);
  await gateway.test.context.database.refreshTokens.save({
    tokenHash: sha256Hex(token),
    familyId: newId(),
    userId: gateway.userId,
    expiresAt: new Date(Date.now() + 3_600_000),
  });
  return token;
}

async function nodeToken(): Promise<string> {
  const token = `agt-${randomToken(32)}`;
  await gateway.test.context.database.agents.register({
    name: 'node',
    version: '1',
    tokenHash: sha256Hex(token),
    hosts: [],
  });
  return token;
}

const statusOf = async ({ method, path }: Operation, bearer: string | undefined) => {
  const url = `${gateway.url}${path.replace(/\{\w+\}/, crypto.randomUUID())}`;
  const response = await fetch(url, {
    method: method.toUpperCase(),
    headers: bearer === undefined ? {} : { authorization: `Bearer ${bearer}` },
    ...(method === 'get' ? {} : { body: '{}' }),
  });
  const text = await response.text();
  if (bearer !== undefined) expect(text).not.toContain(bearer);
  return response.status;
};

/** The routes without Express; the answer to another method says which one they have. */
async function leanRoutes(): Promise<readonly MountedRoute[]> {
  const paths = [...(gateway.app.leanPaths ?? []), ...PROBE_PATHS];
  return Promise.all(
    paths.map(async (path) => {
      const { headers } = await fetch(`${gateway.url}${path}`, { method: 'DELETE' });
      return { method: headers.get('allow')?.split(',')[0]?.toLowerCase() ?? '', path };
    }),
  );
}

const inOrder = (routes: readonly MountedRoute[]): readonly string[] =>
  routes.map(({ method, path }) => `${method} ${path}`).toSorted();

test('one of the users is a platform admin, and the other is not', async () => {
  const { users } = gateway.test.context.database;
  expect(await users.findById(gateway.userId)).toMatchObject({ isAdmin: true });
  expect(await users.findByEmail('user@example.com')).toMatchObject({
    user: { isAdmin: false },
  });
});

test('what is mounted is declared, and what is declared is mounted', async () => {
  expect(mounted.length).toBeGreaterThan(10);
  const served = [...mounted, ...(await leanRoutes())].filter(({ path }) => !PAGES.includes(path));
  expect(inOrder(served)).toEqual(inOrder(OPERATIONS));
});

test.each(
  OPERATIONS.map((operation) => ({ name: `${operation.method} ${operation.path}`, operation })),
)('$name is open to the credentials of its declaration, and to no other', async ({ operation }) => {
  const { security } = operation;
  const served: string[] = [];
  for (const [kind, bearer] of Object.entries(credentials))
    if ((await statusOf(operation, bearer)) !== 401) served.push(kind);
  const accepted: readonly string[] =
    security.length === 0
      ? Object.keys(credentials)
      : security.flatMap((scheme) => [...ACCEPTED[scheme]]);
  expect(served.toSorted()).toEqual(accepted.toSorted());
});
