import { newId } from '@model-gateway/kernel';
import { startChatUpstream, type RunningChatUpstream } from '@model-gateway/testkit/upstreams';
import { admin, groupsOf, keysOf, registerBackend, startGateway } from '../gateway.ts';
import type { GatewayUnderTest } from '../gateway.ts';

let gateway: GatewayUnderTest;
let upstream: RunningChatUpstream;
let groupKey = '';
let foreignConversation = '';

beforeAll(async () => {
  gateway = await startGateway({ SERVICE_BREAKER_FAILURES: '1000' });
  upstream = await startChatUpstream({ models: ['m', 'denied'] });
  await registerBackend(gateway, { type: 'external', name: 'up', url: upstream.url });
  const stopped = await startChatUpstream({ models: ['stopped'] });
  await registerBackend(gateway, { type: 'external', name: 'stopped', url: stopped.url });
  await stopped.close();
  await registerBackend(gateway, {
    type: 'external',
    name: 'stopped',
    url: stopped.url,
    models: ['stopped'],
  });
  await registerBackend(gateway, {
    type: 'external',
    name: 'vectors',
    url: upstream.url,
    models: ['vectors-only'],
    capabilities: ['embeddings'],
  });
  await prepareAccounts();
});
afterEach(() => upstream.faults.clear());
afterAll(async () => {
  await gateway.test.close();
  await upstream.close();
});

async function prepareAccounts(): Promise<void> {
  const { users, conversations } = gateway.test.context.database;
  const rules = groupsOf(gateway.test);
  const owner = await users.findById(gateway.userId);
  if (owner === undefined) throw new Error('user not found');
  const { id: groupId } = await rules.groups.create(owner, { name: 'Team' });
  await rules.models.deny(groupId, ['denied']);
  const keys = keysOf(gateway.test);
  ({ secret: groupKey } = await keys.create({ userId: owner.id, name: 'team', groupId }));
  const otherUser = await users.create({
    id: newId(),
    email: 'other@example.com',
    name: 'Other',
    passwordHash: 'not used',
  });
  ({ id: foreignConversation } = await conversations.create({
    id: newId(),
    userId: otherUser.id,
    title: 'Theirs',
  }));
}

interface RequestOptions {
  readonly path?: string;
  readonly method?: string;
  readonly body?: unknown;
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

function ask({ path = 'chat/completions', method = 'POST', body, key, headers }: RequestOptions) {
  return fetch(`${gateway.url}/v1/${path}`, {
    method,
    headers: { authorization: `Bearer ${key ?? gateway.key}`, ...headers },
    ...(method === 'GET' ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
}

const chat = (model: string, more: object = {}) => ({
  body: { model, messages: [{ role: 'user', content: 'Hi' }], ...more },
});

interface Row {
  readonly why: string;
  readonly ask: () => Promise<Response>;
  readonly status: number;
  readonly type: string;
  readonly code: string;
  readonly message?: string;
  readonly param?: string;
  readonly upstream?: object;
}

const invalid = { type: 'invalid_request' };
const failed = { type: 'server_error' };

test.each<Row>([
  { why: 'bad JSON', ask: () => ask({ body: '{' }), status: 400, ...invalid, code: 'invalid_json' },
  {
    why: 'missing fields',
    ask: () => ask({ body: {} }),
    status: 400,
    ...invalid,
    code: 'missing_fields',
    param: 'model',
  },
  {
    why: 'a long reference',
    ask: () => ask({ ...chat('m'), headers: { 'x-service-ref': 'x'.repeat(65) } }),
    status: 400,
    ...invalid,
    code: 'bad_ref',
  },
  {
    why: 'a missing index',
    ask: () => admin(gateway, 'DELETE', 'backends', {}),
    status: 400,
    ...invalid,
    code: 'missing_index',
    message: "Missing 'index' field",
    param: 'index',
  },
  {
    why: 'a missing alias',
    ask: () => admin(gateway, 'POST', 'aliases', {}),
    status: 400,
    ...invalid,
    code: 'missing_alias',
    param: 'alias',
  },
  {
    why: 'a missing target',
    ask: () => admin(gateway, 'POST', 'aliases', { alias: 'a' }),
    status: 400,
    ...invalid,
    code: 'missing_target',
    param: 'target',
  },
  {
    why: 'an unknown type',
    ask: () => registerBackend(gateway, { type: 'magic' }),
    status: 400,
    ...invalid,
    code: 'unknown_type',
  },
  {
    why: 'a removed type',
    ask: () => registerBackend(gateway, { type: 'comfyui' }),
    status: 400,
    ...invalid,
    code: 'unknown_type',
    message: "backend type 'comfyui' was removed",
  },
  {
    why: 'a refused URL scheme',
    ask: () => registerBackend(gateway, { type: 'external', url: 'file:///etc/passwd' }),
    status: 400,
    ...invalid,
    code: 'bad_url',
  },
  {
    why: 'a wrong admin token',
    ask: () => admin(gateway, 'GET', 'backends', undefined, 'wrong'),
    status: 401,
    type: 'auth_error',
    code: 'unauthorized',
    message: 'admin access required',
  },
  {
    why: 'a model that the group denies',
    ask: () => ask({ ...chat('denied'), key: groupKey }),
    status: 403,
    type: 'auth_error',
    code: 'model_not_allowed',
  },
  {
    why: 'a conversation of another user',
    ask: () => ask(chat('m', { conversation_id: foreignConversation })),
    status: 403,
    type: 'auth_error',
    code: 'conversation_forbidden',
  },
  {
    why: 'a conversation that does not exist',
    ask: () => ask(chat('m', { conversation_id: newId() })),
    status: 404,
    ...invalid,
    code: 'conversation_not_found',
  },
  {
    why: 'a model without a backend',
    ask: () => ask(chat('missing')),
    status: 404,
    type: 'invalid_request_error',
    code: 'model_not_found',
    message: 'No backend available for model: missing',
  },
  {
    why: 'an index out of range',
    ask: () => admin(gateway, 'DELETE', 'backends', { index: 99 }),
    status: 404,
    ...invalid,
    code: 'not_found',
    message: 'Backend not found at given index',
  },
  {
    why: 'an unknown path',
    ask: () => ask({ path: 'nothing', body: {} }),
    status: 404,
    ...invalid,
    code: 'not_found',
  },
  {
    why: 'an unknown path without a key',
    ask: () => fetch(`${gateway.url}/v1/nothing`),
    status: 404,
    ...invalid,
    code: 'not_found',
  },
  {
    why: 'another method',
    ask: () => ask({ method: 'GET' }),
    status: 405,
    ...invalid,
    code: 'method_not_allowed',
  },
  {
    why: 'another method of a model',
    ask: () => ask({ path: 'models/m', method: 'DELETE' }),
    status: 405,
    ...invalid,
    code: 'method_not_allowed',
  },
  {
    why: 'a body too large',
    ask: () => ask(chat('m', { x: 'x'.repeat(10_000) })),
    status: 413,
    ...invalid,
    code: 'request_too_large',
  },
  {
    why: 'an operation that no backend of the model declared',
    ask: () => ask(chat('vectors-only')),
    status: 500,
    ...failed,
    code: 'backend_error',
  },
  {
    why: 'a model whose backends are all unavailable',
    ask: () => ask(chat('stopped')),
    status: 500,
    ...failed,
    code: 'internal_error',
    message: 'all backends unhealthy',
  },
  {
    why: 'an upstream that refuses',
    ask() {
      upstream.faults.next({ kind: 'status', status: 418, body: { error: { message: 'tea' } } });
      return ask(chat('m'));
    },
    status: 502,
    ...failed,
    code: 'bad_gateway',
    message: 'upstream 418: tea',
    upstream: { status: 418, message: 'tea' },
  },
  {
    why: 'an upstream that refuses the key of the backend',
    ask() {
      upstream.faults.next({ kind: 'status', status: 401, body: { error: { message: 'who?' } } });
      return ask({ ...chat('m'), headers: { 'x-service-errors': 'upstream' } });
    },
    status: 502,
    ...failed,
    code: 'upstream_auth',
    message: 'upstream 401: who?',
    upstream: { status: 401, message: 'who?' },
  },
  {
    why: 'an unreachable bridge',
    ask: () => registerBackend(gateway, { type: 'external', url: 'bridge://node/service' }),
    status: 502,
    ...failed,
    code: 'bridge_unreachable',
  },
  {
    why: 'an upstream that disconnects',
    ask() {
      upstream.faults.next({ kind: 'reset' });
      return ask(chat('m'));
    },
    status: 502,
    ...failed,
    code: 'bad_gateway',
  },
])('$why returns $status $code', async (row) => {
  const {
    ask: send,
    status,
    type,
    code,
    message = expect.stringMatching(/\S/),
    param = null,
    upstream: fields,
  } = row;
  const response = await send();
  expect(response.status).toBe(status);
  expect(response.headers.get('content-type')).toContain('application/json');
  expect(response.headers.get('x-request-id')).toBeTruthy();
  const mayRetry = response.headers.get('x-should-retry') !== 'false';
  expect(mayRetry && [401, 403].includes(status)).toBe(false);
  expect(await response.json()).toEqual({
    error: {
      type,
      code,
      param,
      message,
      ...(fields === undefined ? {} : { upstream: fields }),
    },
  });
});
