import { createAccessTokens } from '@model-gateway/accounts';
import { manualClock, newId, randomToken, sha256Hex, systemClock } from '@model-gateway/kernel';
import { PROBE_PATHS } from '@model-gateway/http';
import { createTestAccount, type TestAccount } from '@model-gateway/testkit';
import { OPERATIONS } from '../../src/operations/all.ts';
import type { Operation } from '../../src/operations/operation.ts';
import { CONSOLE_ROUTES } from '../../src/console/console-routes.ts';
import { DOCS_ROUTES } from '../../src/docs/routes.ts';
import {
  NO_ITEMS,
  ADMIN_TOKEN,
  groupsOf,
  keysOf,
  startGateway,
  type GatewayUnderTest,
} from '../gateway.ts';
import { recordMounts, type MountedRoute } from './mounted-routes.ts';

// Every declared operation is tried with every kind of credential. A new operation is part of this by being declared, and what
// is served without being declared is found.

const ACCEPTED = {
  apiKey: ['API key', 'API key of a platform admin', 'group key of a member'],
  accessToken: ['user', 'platform admin'],
  adminToken: ['admin token'],
} as const satisfies Record<Operation['security'][number], readonly string[]>;

/** Public pages, which have no data of users. */
const PAGES: readonly string[] = [...DOCS_ROUTES, ...CONSOLE_ROUTES, '/metrics'];

let gateway: GatewayUnderTest;
let mounted: readonly MountedRoute[];
let credentials: Readonly<Record<string, string | undefined>>;
let stranger: TestAccount;
let keyOfStranger: string;
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
  stranger = await createTestAccount(gateway.test.context, 'user@example.com');
  ({ secret: keyOfStranger } = await keys.create({ userId: stranger.id, name: 'user' }));
  credentials = {
    none: undefined,
    user: stranger.token,
    'platform admin': admin,
    'API key': keyOfStranger,
    'API key of a platform admin': gateway.key,
    'group key of a member': await groupKey('member@example.com'),
    'group key of a removed member': await groupKey('removed@example.com', { isRemoved: true }),
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

/** A key with which a member spends the points of the group. */
async function groupKey(email: string, { isRemoved = false } = {}): Promise<string> {
  const owner = await gateway.test.context.database.users.findById(gateway.userId);
  if (owner === undefined) throw new Error('there is no owner');
  const { groups, members } = groupsOf(gateway.test);
  const group = await groups.create(owner, { name: email });
  const member = await createTestAccount(gateway.test.context, email);
  await members.add(owner, group, email, {});
  const { secret } = await keysOf(gateway.test).create({
    userId: member.id,
    name: 'group',
    groupId: group.id,
  });
  if (isRemoved) await members.remove(group.id, email);
  return secret;
}

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

type Headers = Readonly<Record<string, string>>;

/** How a credential is sent. */
const SENT_AS: Readonly<Record<string, (credential: string) => Headers>> = {
  'a bearer': (credential) => ({ authorization: `Bearer ${credential}` }),
  'x-api-key': (credential) => ({ 'x-api-key': credential }),
};

async function ask({ method, path }: Operation, id: string, headers: Headers): Promise<Response> {
  return fetch(`${gateway.url}${path.replace(/\{\w+\}/, id)}`, {
    method: method.toUpperCase(),
    headers,
    ...(method === 'get' ? {} : { body: '{}' }),
  });
}

/** The kinds of credentials that are not refused. */
async function servedTo(operation: Operation, sentAs: string): Promise<readonly string[]> {
  const served: string[] = [];
  const retries = new Set<string | null>();
  for (const [kind, credential] of Object.entries(credentials)) {
    const headers = credential === undefined ? {} : (SENT_AS[sentAs]?.(credential) ?? {});
    const response = await ask(operation, crypto.randomUUID(), headers);
    const text = await response.text();
    expect(text).not.toContain(credential ?? 'no credential');
    if (response.status !== 401) served.push(kind);
    else retries.add(response.headers.get('x-should-retry'));
  }
  expect([...retries].filter((header) => header !== 'false')).toEqual([]);
  return served.toSorted();
}

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

const NAMED = OPERATIONS.map((operation) => ({
  name: `${operation.method} ${operation.path}`,
  operation,
}));

test.each(NAMED)(
  '$name is open to the credentials of its declaration, and to no other',
  async ({ operation }) => {
    const { security } = operation;
    const accepted = security.flatMap((scheme): readonly string[] => ACCEPTED[scheme]);
    const expected = (security.length === 0 ? Object.keys(credentials) : accepted).toSorted();
    expect(await servedTo(operation, 'a bearer')).toEqual(expected);
    // Other headers are read where an API key is accepted.
    const isForKeys = security.length === 0 || security.includes('apiKey');
    expect(await servedTo(operation, 'x-api-key')).toEqual(isForKeys ? expected : []);
  },
);

test.each(PAGES.filter((path) => path !== '/metrics'))(
  'the page %s is the same for every caller',
  async (path) => {
    const url = `${gateway.url}${path.replace('{path}', '')}`;
    const answers = new Set<string>();
    for (const credential of Object.values(credentials)) {
      const headers = credential === undefined ? {} : { authorization: `Bearer ${credential}` };
      const response = await fetch(url, { headers, redirect: 'manual' });
      expect(response.status).toBeLessThan(400);
      answers.add(`${response.status} ${await response.text()}`);
    }
    expect(answers.size).toBe(1);
  },
);

/** Makes an object of the owner of the gateway, and returns its id; null where the path names no object of a user. */
const OWN_OBJECTS: Readonly<Record<string, (() => Promise<string>) | null>> = {
  'get /v1/video/generations/{id}': createVideoJob,
  'get /v1/responses/{id}': createResponse,
  'delete /v1/responses/{id}': createResponse,
  'get /v1/responses/{id}/input_items': createResponse,
  'get /v1/models/{id}': null,
  'get /api/admin/backends/by-name/{name}': null,
  'put /api/admin/backends/by-name/{name}': null,
  'patch /api/admin/backends/by-name/{name}': null,
  'delete /api/admin/backends/by-name/{name}': null,
  'post /api/admin/backends/by-name/{name}/test': null,
};

async function createVideoJob(): Promise<string> {
  const { job } = await gateway.test.context.database.videoJobs.create({
    id: crypto.randomUUID(),
    payer: {
      userId: gateway.userId,
      apiKeyId: 'key',
      keyId: null,
      groupId: null,
      project: null,
      multiplier: 1,
    },
    model: 'v-1',
    resolvedModel: 'v-1',
    order: { prompt: 'a cat' },
    images: [],
    idempotencyKey: null,
    orderHash: null,
    allowedModels: null,
    unfinishedMax: 10,
  });
  return job.id;
}

async function createResponse(): Promise<string> {
  const id = `resp_${randomToken(16)}`;
  const stored = {
    id,
    previousId: null,
    input: '[]',
    response: JSON.stringify({ id, object: 'response', output: [] }),
    ...NO_ITEMS,
    userId: gateway.userId,
    createdAt: new Date(),
    expiresAt: new Date(Date.now() + 3_600_000),
  };
  await gateway.test.context.database.responses.save(stored, Number.MAX_SAFE_INTEGER);
  return id;
}

test('every path that names an object is tried with one of another user', () => {
  const naming = NAMED.filter(({ operation }) => operation.path.includes('{'));
  expect(Object.keys(OWN_OBJECTS).toSorted()).toEqual(naming.map(({ name }) => name).toSorted());
});

test.each(NAMED.filter(({ name }) => typeof OWN_OBJECTS[name] === 'function'))(
  '$name finds the object of its owner, and for any other key there is none',
  async ({ name, operation }) => {
    const id = (await OWN_OBJECTS[name]?.()) ?? '';
    for (const kind of ['API key', 'group key of a member']) {
      const headers = { authorization: `Bearer ${credentials[kind]}` };
      const foreign = await ask(operation, id, headers);
      const unknown = await ask(operation, crypto.randomUUID(), headers);
      expect([kind, foreign.status, unknown.status]).toEqual([kind, 404, 404]);
    }
    const response = await ask(operation, id, { authorization: `Bearer ${gateway.key}` });
    expect([response.status, await response.text()]).toEqual([200, expect.any(String)]);
  },
);
