import { createAccessTokens } from '@model-gateway/accounts';
import { rpcMethods, type RpcMethodName } from '@model-gateway/contracts';
import { manualClock } from '@model-gateway/kernel';
import type { RpcAnswer, TestAccount } from '@model-gateway/testkit';
import { z } from 'zod';
import { ADMIN_TOKEN, startRpc, type RpcServer } from '../rpc-server.ts';

// Every declared method is tried with every kind of credential, and every method that names an object with the object of
// another user. A new method is part of both by being declared.

const NAMES = Object.keys(rpcMethods) as RpcMethodName[];
const AUTH_ERROR = -32_005;
const FORBIDDEN = -32_007;

/** The credentials that each level of a declaration accepts. */
const ACCEPTED = {
  public: [],
  jwt: ['user', 'platform admin'],
  admin: ['platform admin'],
  'admin-token': ['admin token'],
  'admin-or-admin-token': ['platform admin', 'admin token'],
  'jwt-or-admin-token': ['user', 'platform admin', 'admin token'],
} as const satisfies Record<(typeof rpcMethods)[RpcMethodName]['auth'], unknown>;

/** The params that name an object of a user. Others name what only admins may touch, or nothing that exists. */
const OBJECT_PARAMS = [
  'conversation_id',
  'session_id',
  'key_id',
  'group_id',
  'job_id',
  'node_id',
  'webhook_id',
  'request_id',
];

/** Nothing is delivered to it. */
const RECEIVER = 'https://93.184.215.14/hook';

let rpc: RpcServer;
let admin: TestAccount;
let user: TestAccount;
let credentials: Readonly<Record<string, string | undefined>>;
/** Accepted by no method but the public ones. */
let worthless: readonly (readonly [string, string])[];
beforeAll(async () => {
  rpc = await startRpc();
  admin = await rpc.createAccount('admin@example.com');
  user = await rpc.createAccount('user@example.com');
  const signedIn = await rpc.call('auth.login', {
    email: 'user@example.com',
    password: 'long enough',
  });
  const created = await rpc.call('keys.create', { name: 'key' }, user.token);
  const node = await rpc.call(
    'agents.register',
    { machine_name: 'node', version: '1' },
    admin.token,
  );
  const expired = createAccessTokens({
    secret: rpc.test.context.jwtSecret,
    expiresInSecs: 1,
    clock: manualClock(0),
  });
  credentials = {
    none: undefined,
    user: user.token,
    'platform admin': admin.token,
    'admin token': ADMIN_TOKEN,
  };
  worthless = [
    ['API key', (created.result as { key: string }).key],
    ['expired token', expired.sign(admin.id)],
    ['refresh token', (signedIn.result as { refresh_token: string }).refresh_token],
    ['tampered token', `${admin.token.slice(0, -2)}xx`],
    ['node token', (node.result as { token: string }).token],
    ['token of a sign-in that has ended', await endedToken()],
    ['token of a deactivated user', await deactivatedToken()],
  ];
});
afterAll(() => rpc.test.close());

async function endedToken(): Promise<string> {
  const { email } = await rpc.createAccount('ended@example.com');
  const { result } = await rpc.call('auth.login', { email, password: 'long enough' });
  const { access_token } = result as { access_token: string };
  await rpc.call('auth.logout', {}, access_token);
  return access_token;
}

async function deactivatedToken(): Promise<string> {
  const { id, token } = await rpc.createAccount('deactivated@example.com');
  await rpc.call('users.update', { user_id: id, active: false }, admin.token);
  return token;
}

/** Whether a call was refused because of who made it, not because of its params. */
const isRefused = ({ error }: RpcAnswer): boolean =>
  error !== undefined && [AUTH_ERROR, FORBIDDEN].includes(error.code);

async function answersOf(name: RpcMethodName): Promise<readonly (readonly [string, RpcAnswer])[]> {
  const answers: [string, RpcAnswer][] = [];
  for (const [kind, bearer] of [...Object.entries(credentials), ...worthless])
    answers.push([kind, await rpc.call(name, {}, bearer)]);
  return answers;
}

const isPublic = (name: RpcMethodName): boolean => rpcMethods[name].auth === 'public';

test.each(NAMES.filter(isPublic))('%s answers every caller alike', async (name) => {
  const codes = (await answersOf(name)).map(([, { error }]) => error?.code);
  expect(new Set(codes).size).toBe(1);
});

test.each(NAMES.filter((name) => !isPublic(name)))(
  '%s is open to the credentials of its declaration, and to no other',
  async (name) => {
    const answers = await answersOf(name);
    const served = answers.filter(([, answer]) => !isRefused(answer)).map(([kind]) => kind);
    const accepted: readonly string[] = ACCEPTED[rpcMethods[name].auth];
    expect(served.toSorted()).toEqual(accepted.toSorted());
  },
);

/** Who is refused nothing, on account of the bearer that it presents, by each path besides the RPC methods. */
const EVERYBODY = 'everybody';
const HTTP_ROUTES: Readonly<Record<string, readonly string[] | typeof EVERYBODY>> = {
  // The methods decide.
  'POST /api/rpc': EVERYBODY,
  'GET /api/rpc/events': EVERYBODY,
  'GET /api/session': EVERYBODY,
  'POST /api/session': EVERYBODY,
  'DELETE /api/session': EVERYBODY,
  'POST /api/session/register': EVERYBODY,
  // It takes a cookie only.
  'POST /api/session/refresh': [],
  'GET /api/usage.csv': ['user', 'platform admin'],
  'GET /auth/oidc/start': EVERYBODY,
  'GET /auth/oidc/callback': EVERYBODY,
  'GET /auth/oidc/logout': EVERYBODY,
  'GET /auth/oidc/link': EVERYBODY,
  'POST /auth/oidc/link': EVERYBODY,
};

/** The answer to a method that no path has lists those that it has. */
async function servedRoutes(): Promise<readonly string[]> {
  const allowed = await Promise.all(
    rpc.routes.map(async (path) => {
      const { headers } = await fetch(`${rpc.url}${path}`, { method: 'PATCH' });
      const methods = headers.get('allow')?.split(', ') ?? ['any method'];
      return methods.map((method) => `${method} ${path}`);
    }),
  );
  return allowed.flat();
}

test('each path and method that is served is tried with every kind of credential', async () => {
  expect((await servedRoutes()).toSorted()).toEqual(Object.keys(HTTP_ROUTES).toSorted());
});

async function statusOf(route: string, bearer: string | undefined): Promise<number> {
  const [method = '', path = ''] = route.split(' ');
  const response = await fetch(`${rpc.url}${path}?session=matrix`, {
    method,
    redirect: 'manual',
    headers: bearer === undefined ? {} : { authorization: `Bearer ${bearer}` },
    ...(method === 'POST' ? { body: '{}' } : {}),
  });
  // The stream of events has no end.
  await response.body?.cancel();
  return response.status;
}

test.each(Object.entries(HTTP_ROUTES))('%s is open to %j', async (route, accepted) => {
  const statuses: [string, number][] = [];
  for (const [kind, bearer] of [...Object.entries(credentials), ...worthless])
    statuses.push([kind, await statusOf(route, bearer)]);
  const isServed = (status: number): boolean =>
    accepted === EVERYBODY ? status === statuses[0]?.[1] : ![401, 403].includes(status);
  const served = statuses.filter(([, status]) => isServed(status)).map(([kind]) => kind);
  const expected = accepted === EVERYBODY ? statuses.map(([kind]) => kind) : accepted;
  expect(served.toSorted()).toEqual(expected.toSorted());
});

interface OwnObjects {
  readonly conversation_id: string;
  readonly key_id: string;
  readonly group_id: string;
  readonly job_id: string;
  readonly webhook_id: string;
  readonly request_id: string;
}

/** Params with which the owner of the objects would reach them; null where the object is no row of the owner's. */
const REACHING: Partial<Record<RpcMethodName, ((own: OwnObjects) => object) | null>> = {
  'chat.send': ({ conversation_id }) => ({
    model: 'm',
    messages: [{ role: 'user', content: 'Hi' }],
    conversation_id,
  }),
  'realtime.start': ({ conversation_id }) => ({ model: 'm', conversation_id }),
  'realtime.event': null,
  'realtime.stop': null,
  'keys.create': ({ group_id }) => ({ name: 'stolen', group_id }),
  'keys.revoke': ({ key_id }) => ({ key_id }),
  'keys.update': ({ key_id }) => ({ key_id }),
  'keys.rotate': ({ key_id }) => ({ key_id }),
  'memory.delete': null,
  // A filter: what it may match is decided by its scope, see usage-summary.test.ts.
  'usage.summary': null,
  'requests.list': null,
  'requests.watch': null,
  'conversations.get': ({ conversation_id }) => ({ conversation_id }),
  'conversations.delete': ({ conversation_id }) => ({ conversation_id }),
  'video.get': ({ job_id }) => ({ job_id }),
  'video.cancel': ({ job_id }) => ({ job_id }),
  // Only for admins, about keys of everybody.
  'routes.explain': null,
};

/** The same for what platform admins may reach as well. */
const REACHING_FOR_ADMINS: Partial<Record<RpcMethodName, (own: OwnObjects) => object>> = {
  'requests.get': ({ request_id }) => ({ id: request_id }),
  'webhooks.create': ({ group_id }) => ({ url: RECEIVER, events: ['key.expiring'], group_id }),
  'webhooks.list': ({ group_id }) => ({ group_id }),
  'webhooks.deliveries': ({ webhook_id }) => ({ webhook_id }),
  'webhooks.test': ({ webhook_id }) => ({ webhook_id }),
  'webhooks.remove': ({ webhook_id }) => ({ webhook_id }),
};

function namesAnObject(name: RpcMethodName): boolean {
  const schema = z.toJSONSchema(rpcMethods[name].params, { io: 'input', unrepresentable: 'any' });
  return Object.keys(schema.properties ?? {}).some((param) => OBJECT_PARAMS.includes(param));
}

test('every method that names an object of a user is tried with one of another user', () => {
  // Methods of groups have a matrix of roles of their own.
  const naming = NAMES.filter((name) => !name.startsWith('group.') && namesAnObject(name));
  const tried = [...Object.keys(REACHING), ...Object.keys(REACHING_FOR_ADMINS)];
  expect(tried.toSorted()).toEqual(naming.toSorted());
});

async function createObjects(): Promise<OwnObjects> {
  const call = async (method: string, params: object) =>
    (await rpc.call(method, params, user.token)).result as { id: string };
  const { id: conversation_id } = await call('conversations.create', { title: 'mine' });
  const { id: key_id } = await call('keys.create', { name: 'mine' });
  const { id: group_id } = await call('group.create', { name: 'mine' });
  const { job } = await rpc.test.context.database.videoJobs.create({
    id: crypto.randomUUID(),
    payer: {
      userId: user.id,
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
    unfinishedMax: 1_000,
  });
  const params = { url: RECEIVER, events: ['key.expiring'], group_id };
  const { result } = await rpc.call('webhooks.create', params, user.token);
  const { id: webhook_id } = result as { id: string };
  const [row] = await rpc.test.query(
    `INSERT INTO usage_records (api_key_id, model, backend, prompt_tokens, completion_tokens, total_tokens, user_id)
     VALUES ('service-', 'm', 'gateway', 1, 1, 2, $1) RETURNING id`,
    [user.id],
  );
  const request_id = String(row?.['id']);
  return { conversation_id, key_id, group_id, job_id: job.id, webhook_id, request_id };
}

/** Everything that the owner sees of the objects. */
async function seenByOwner(own: OwnObjects): Promise<unknown> {
  const { conversation_id, job_id, group_id, webhook_id, request_id } = own;
  const calls = [
    ['conversations.get', { conversation_id }],
    ['keys.list', {}],
    ['group.get', { group_id }],
    ['video.get', { job_id }],
    ['webhooks.list', { group_id }],
    ['webhooks.deliveries', { webhook_id }],
    ['requests.get', { id: request_id }],
  ] as const;
  return Promise.all(
    calls.map(async ([method, params]) => {
      const { result, error } = await rpc.call(method, params, user.token);
      expect(error).toBeUndefined();
      return result;
    }),
  );
}

const listed = (reaching: typeof REACHING) =>
  NAMES.flatMap((name) => {
    const params = reaching[name];
    return params === undefined || params === null ? [] : [{ name, params }];
  });

/** Ids of nothing. */
const unknownObjects = (): OwnObjects => ({
  conversation_id: crypto.randomUUID(),
  key_id: crypto.randomUUID(),
  group_id: crypto.randomUUID(),
  job_id: crypto.randomUUID(),
  webhook_id: crypto.randomUUID(),
  request_id: crypto.randomUUID(),
});

/** They reach the object, and then find no upstream. */
const NEEDS_UPSTREAM: readonly RpcMethodName[] = ['chat.send', 'realtime.start'];

describe('the object of another user', () => {
  let stranger: TestAccount;
  beforeAll(async () => {
    stranger = await rpc.createAccount('stranger@example.com');
  });

  type Reaching = ReturnType<typeof listed>[number];

  /** What others get is what they get for an object that does not exist; the owner is served. */
  async function expectOwnerOnly(
    { name, params }: Reaching,
    others: readonly TestAccount[],
  ): Promise<void> {
    const own = await createObjects();
    const before = await seenByOwner(own);
    for (const { token } of others) {
      const { error } = await rpc.call(name, params(own), token);
      const unknown = await rpc.call(name, params(unknownObjects()), token);
      expect(error).toEqual(unknown.error);
      expect(error).toMatchObject({ code: -32_000, message: expect.stringMatching(/not found$/) });
    }
    expect(await seenByOwner(own)).toEqual(before);
    const { error } = await rpc.call(name, params(own), user.token);
    expect(error?.message).toBe(
      NEEDS_UPSTREAM.includes(name) ? 'No backend available for model: m' : undefined,
    );
  }

  test.each(listed(REACHING))('is not found by $name, also for an admin', (reaching) =>
    expectOwnerOnly(reaching, [stranger, admin]),
  );

  test.each(listed(REACHING_FOR_ADMINS))('is not found by $name', (reaching) =>
    expectOwnerOnly(reaching, [stranger]),
  );
});
