import { newId } from '@model-gateway/kernel';
import type { TestAccount } from '@model-gateway/testkit';
import { startChatUpstream } from '@model-gateway/testkit/upstreams';
import { watchForSecrets } from '@model-gateway/testkit';
import { ADMIN_TOKEN, startRpc, type RpcServer } from '../rpc-server.ts';

watchForSecrets();

let rpc: RpcServer;
let admin: TestAccount;
let person: TestAccount;

beforeAll(async () => {
  rpc = await startRpc();
  admin = await rpc.createAccount('admin@example.com');
  person = await rpc.createAccount('person@example.com');
});
afterAll(() => rpc.test.close());

const list = async (): Promise<readonly Record<string, unknown>[]> =>
  (await rpc.call('providers.list')).result as Record<string, unknown>[];
const find = async (id: string) => (await list()).find((provider) => provider['id'] === id);

test('anyone may see the built-in providers', async () => {
  const providers = await list();
  expect(providers.length).toBeGreaterThanOrEqual(10);
  expect(new Set(providers.map(({ id }) => id)).size).toBe(providers.length);
  expect(await find('openai')).toEqual({
    id: 'openai',
    name: 'OpenAI',
    description: expect.any(String),
    website_domain: 'openai.com',
    is_official: true,
    is_operator: false,
  });
});

test('an admin adds, changes and removes a custom provider, and only the given fields change', async () => {
  const custom = {
    id: 'acme',
    name: 'Acme',
    description: '',
    website_domain: '',
    is_official: false,
    is_operator: false,
  };
  const call = async (method: string, params: object) =>
    (await rpc.call(method, params, admin.token)).result;
  expect(await call('providers.add', { id: 'acme', name: 'Acme' })).toEqual({ ok: true });
  expect((await list()).at(-1)).toEqual(custom);
  const change = { provider_id: 'acme', website_domain: 'acme.example' };
  expect(await call('providers.update', change)).toEqual({ ok: true });
  expect(await find('acme')).toEqual({ ...custom, website_domain: 'acme.example' });
  expect(await call('providers.update', { provider_id: 'acme', name: 'ACME' })).toEqual({
    ok: true,
  });
  expect(await find('acme')).toEqual({
    ...custom,
    name: 'ACME',
    website_domain: 'acme.example',
  });
  expect(await call('providers.remove', { provider_id: 'acme' })).toEqual({ ok: true });
  expect(await find('acme')).toBeUndefined();
});

test('providers.test returns that it is not implemented', async () => {
  expect((await rpc.call('providers.test', {}, admin.token)).result).toEqual({
    ok: true,
    message: 'provider test is not implemented',
  });
});

const EXISTS = { code: -32_000, message: 'provider already exists' };
const NOT_FOUND = { code: -32_000, message: 'provider not found' };
const BUILT_IN = { code: -32_000, message: 'built-in providers cannot be changed' };

test.each([
  {
    why: 'an existing id',
    method: 'providers.add',
    params: { id: 'taken', name: 'x' },
    error: EXISTS,
  },
  {
    why: 'the id of a built-in one',
    method: 'providers.add',
    params: { id: 'openai', name: 'x' },
    error: EXISTS,
  },
  {
    why: 'an unknown id',
    method: 'providers.update',
    params: { provider_id: 'missing', name: 'x' },
    error: NOT_FOUND,
  },
  {
    why: 'an unknown id',
    method: 'providers.remove',
    params: { provider_id: 'missing' },
    error: NOT_FOUND,
  },
  {
    why: 'a built-in one',
    method: 'providers.update',
    params: { provider_id: 'openai', name: 'x' },
    error: BUILT_IN,
  },
  {
    why: 'a built-in one',
    method: 'providers.remove',
    params: { provider_id: 'openai' },
    error: BUILT_IN,
  },
])('$method refuses $why', async ({ method, params, error }) => {
  await rpc.call('providers.add', { id: 'taken', name: 'Taken' }, admin.token);
  expect((await rpc.call(method, params, admin.token)).error).toEqual(error);
});

test.each(['providers.add', 'providers.update', 'providers.remove', 'providers.test'])(
  '%s is for admins and validates its params',
  async (method) => {
    expect((await rpc.call(method, {})).error).toMatchObject({ code: -32_005 });
    expect((await rpc.call(method, {}, person.token)).error).toMatchObject({ code: -32_007 });
    const { error } = await rpc.call(method, {}, admin.token);
    expect(error?.code).toBe(method === 'providers.test' ? undefined : -32_602);
  },
);

test('an admin sets, lists and removes routes; they are checked, and nobody else may', async () => {
  const call = (method: string, params: object, token = admin.token) =>
    rpc.call(method, params, token);
  const targets = [
    { model: 'llama', backend: 'gpu', priority: 0, weight: 3 },
    { model: 'gpt-4o', priority: 1 },
  ];
  const set = await call('routes.set', { model: 'best', targets, timeout_secs: 1.5 });
  expect(set.result).toEqual({ ok: true });
  const route = {
    model: 'best',
    targets: [targets[0], { model: 'gpt-4o', backend: null, priority: 1, weight: 1 }],
    strategy: 'weighted',
    attempts: 2,
    timeout_secs: 1.5,
    hedge_after_ms: null,
    cache: null,
    retry_on: ['transport', 'timeout', '5xx', '429'],
  };
  expect((await call('routes.list', {})).result).toEqual([route]);
  // What is listed can be set, also with the admin token.
  expect((await call('routes.set', route, ADMIN_TOKEN)).result).toEqual({ ok: true });
  expect((await call('routes.list', {}, ADMIN_TOKEN)).result).toEqual([route]);
  expect((await call('routes.explain', { model: 'best' })).result).toMatchObject({
    model: 'best',
    resolved: 'best',
    key_id: null,
    has_route: true,
    attempts: 2,
    targets: [
      { position: null, backend: 'gpu', model: 'llama', priority: 0, reason: 'not_registered' },
      { position: null, backend: null, model: 'gpt-4o', priority: 1, reason: 'model_not_listed' },
    ],
  });
  const unknownKey = await call('routes.explain', { model: 'best', key_id: newId() });
  expect(unknownKey.error?.message).toMatch(/^there is no key /);
  for (const wrong of [
    { targets: [] },
    { targets, attempts: 6 },
    { targets, retry_on: ['404'] },
    { targets, strategy: 'cheapest' },
    { targets: [{ model: 'x', priority: -1 }] },
    { targets, timeout_secs: 0 },
  ]) {
    const refused = await call('routes.set', { model: 'best', ...wrong });
    expect(refused.error).toMatchObject({ code: -32_602 });
  }
  for (const method of ['routes.list', 'routes.set', 'routes.explain', 'routes.remove']) {
    const refused = await call(method, { model: 'best', targets }, person.token);
    expect(refused.error).toMatchObject({ code: -32_007 });
  }
  expect((await call('routes.remove', { model: 'best' })).result).toEqual({ ok: true });
  expect((await call('routes.remove', { model: 'best' })).error).toMatchObject({
    message: "model 'best' has no route",
  });
  expect((await call('routes.list', {})).result).toEqual([]);
});

test('an admin tries, adds, changes, tests and removes a backend without reading its key', async () => {
  const key = 'the key of the upstream';
  const upstream = await startChatUpstream({ models: ['m'], apiKey: key });
  const call = (method: string, params: object) => rpc.call(method, params, admin.token);
  const name = 'cloud';
  const described = { type: 'vllm', url: upstream.url };
  const backend = { name, ...described };
  const wrong = await call('backends.test', { name, backend: { ...described, api_key: 'wrong' } });
  expect(wrong.result).toMatchObject({
    status: 'failed',
    probe: { state: 'Degraded', reason: expect.stringContaining('401') },
  });
  const tried = await call('backends.test', { name, backend: { ...described, api_key: key } });
  expect(tried.result).toMatchObject({
    status: 'ok',
    name: 'cloud',
    type: 'external',
    probe: { state: 'Healthy', latency_ms: expect.any(Number) },
    chat: { status: 'ok', model: 'm' },
  });
  expect((await call('backends.list', {})).result).toEqual([]);

  const added = await call('backends.add', backend);
  expect(added.result).toEqual({
    name: 'cloud',
    type: 'external',
    url: upstream.url,
    index: 0,
    state: 'Degraded',
    reason: expect.stringContaining('401'),
    checked_at: expect.any(String),
  });
  const again = await call('backends.add', backend);
  expect(again.error).toMatchObject({
    code: -32_602,
    message: expect.stringContaining("a backend with the name 'cloud'"),
  });
  const mended = await call('backends.update', { name: 'cloud', api_key: key });
  expect(mended.result).toMatchObject({ state: 'Healthy', reason: null });
  const tested = await call('backends.test', { name: 'cloud' });
  expect(tested.result).toMatchObject({ status: 'ok', chat: { status: 'ok' } });
  const read = await call('backends.get', { name: 'cloud' });
  expect(read.result).toMatchObject({ name: 'cloud', has_api_key: true, models: ['m'] });
  expect((await call('backends.list', {})).result).toEqual([read.result]);
  expect(JSON.stringify([added, mended, tested, read])).not.toContain(key);

  const moved = await call('backends.update', { name: 'cloud', url: 'http://127.0.0.1:9' });
  expect(moved.error).toMatchObject({ message: expect.stringContaining("'api_key'") });
  expect((await call('backends.remove', { name: 'cloud' })).result).toEqual({ ok: true });
  for (const method of ['backends.get', 'backends.update', 'backends.remove', 'backends.test']) {
    const { error } = await call(method, { name: 'cloud' });
    expect(error?.message).toBe("no backend has the name 'cloud'");
  }
  await upstream.close();
});

test('admins read which kinds of backends there are, and what each asks for', async () => {
  const { result } = await rpc.call('backends.kinds', {}, admin.token);
  expect(result).toEqual((await rpc.call('backends.kinds', {}, ADMIN_TOKEN)).result);
  expect(result).toContainEqual({
    name: 'azure',
    aliases: [],
    is_internal: false,
    title: 'Azure OpenAI',
    purpose: 'Deployments of Azure OpenAI.',
    example_url: 'https://NAME.openai.azure.com?api-version=2024-10-21',
    url_prefixes: ['https://', 'http://', 'bridge://'],
    api_key: { title: 'API key', is_usual: true },
    needs_models: true,
    capabilities: expect.arrayContaining(['chat', 'invoke']),
    offered_capabilities: expect.not.arrayContaining(['invoke']),
    options: expect.objectContaining({
      properties: {
        auth_header: expect.objectContaining({ type: 'string', title: 'Header of the key' }),
        api_keys: expect.objectContaining({ type: 'array', maxItems: 32 }),
        dialects: expect.objectContaining({ items: { type: 'string', enum: ['responses'] } }),
      },
    }),
    facts: { is_free: false, lists_all: false, takes_token_ids: true, is_bounded: false },
  });
  expect(result).toContainEqual(
    expect.objectContaining({ name: 'agent', is_internal: true, title: 'GPU node' }),
  );
});

test.each([
  { why: 'no address', method: 'backends.add', params: { name: 'x', type: 'external' } },
  { why: 'no name', method: 'backends.add', params: { type: 'external', url: 'http://h' } },
  {
    why: 'no name',
    method: 'backends.test',
    params: { backend: { type: 'external', url: 'http://h' } },
  },
  {
    why: 'an unknown type',
    method: 'backends.add',
    params: { name: 'x', type: 'unknown', url: 'http://h' },
    code: -32_000,
  },
  {
    why: 'an address that is none',
    method: 'backends.test',
    params: { name: 'x', backend: { type: 'external', url: 'file:///etc/passwd' } },
    code: -32_000,
  },
])('$method refuses $why', async ({ method, params, code = -32_602 }) => {
  const { error } = await rpc.call(method, params, admin.token);
  expect(error).toMatchObject({ code });
  expect((await rpc.call('backends.list', {}, admin.token)).result).toEqual([]);
});

test('an admin sets, lists and removes aliases', async () => {
  const call = async (method: string, params: object) =>
    (await rpc.call(method, params, admin.token)).result;
  expect(await call('aliases.set', { alias: 'fast', target: 'm' })).toEqual({ ok: true });
  expect(await call('aliases.list', {})).toMatchObject({
    aliases: [{ alias: 'fast', target: 'm' }],
  });
  expect(await call('aliases.remove', { alias: 'fast' })).toEqual({ ok: true });
  expect(await call('aliases.list', {})).toMatchObject({ aliases: [] });
});
