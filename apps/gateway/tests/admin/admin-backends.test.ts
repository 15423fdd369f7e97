import { startChatUpstream, type RunningChatUpstream } from '@model-gateway/testkit/upstreams';
import { createGateway } from '../../src/app.ts';
import { readGatewayConfig } from '../../src/config.ts';
import { admin, registerBackend, startGateway, type GatewayUnderTest } from '../gateway.ts';

let gateway: GatewayUnderTest;
let upstream: RunningChatUpstream;

beforeAll(async () => {
  gateway = await startGateway();
  upstream = await startChatUpstream({ models: ['m'], apiKey: 'upstream secret' });
});
afterAll(async () => {
  await gateway.test.close();
  await upstream.close();
});

test('a backend is registered, stored with its key encrypted, and served after a restart', async () => {
  const backend = { type: 'vllm', name: 'kept', url: upstream.url, api_key: 'upstream secret' };
  const response = await registerBackend(gateway, backend);
  expect(await response.json()).toEqual({
    status: 'ok',
    message: 'backend registered',
    name: 'kept',
    type: 'external',
    url: upstream.url,
    index: 0,
    state: 'Healthy',
    reason: null,
    checked_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
  });
  const config = readGatewayConfig({
    DATABASE_URL: 'postgres://unused',
    REDIS_URL: 'redis://unused',
  });
  const second = await gateway.test.serve(createGateway(config, gateway.test.context));
  const chat = (base: string) =>
    fetch(`${base}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}` },
      body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hi' }] }),
    });
  expect((await chat(gateway.url)).status).toBe(200);
  expect((await chat(second)).status).toBe(200);
});

test.each([
  {
    why: 'an unknown type',
    backend: { type: 'magic' },
    code: 'unknown_type',
    message:
      "unknown backend type 'magic'; use one of external, llama_cpp, vllm, cloud, external_api, " +
      'anthropic, azure, gemini, ' +
      'local-server, ollama, ollama-like, engine, candle, native, cloud-video',
  },
  {
    why: 'an inherited name',
    backend: { type: 'constructor' },
    code: 'unknown_type',
    message: expect.stringContaining("unknown backend type 'constructor'"),
  },
  {
    why: 'a removed type',
    backend: { type: 'comfyui' },
    code: 'unknown_type',
    message: "backend type 'comfyui' was removed",
  },
  {
    why: 'a URL of another scheme',
    backend: { type: 'external', url: 'file:///etc/passwd' },
    code: 'bad_url',
    message: expect.any(String),
  },
  {
    why: 'video with a kind that cannot make videos',
    backend: { type: 'external', name: 'no video', capabilities: ['chat', 'video'] },
    code: 'missing_fields',
    message: expect.stringContaining("'capabilities'"),
  },
  {
    why: 'a field of a wrong type',
    backend: { type: 'external', models: 'm' },
    code: 'missing_fields',
    message: expect.stringContaining("'models'"),
  },
])('$why is refused', async ({ backend, code, message }) => {
  const response = await registerBackend(gateway, backend);
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({
    error: { type: 'invalid_request', code, message },
  });
});

test.each(['wrong', ''])('the bearer %p is not the admin token', async (token) => {
  const response = await registerBackend(gateway, { type: 'external' }, token);
  expect(response.status).toBe(401);
  expect(await response.json()).toEqual({
    error: {
      message: 'admin access required',
      type: 'auth_error',
      code: 'unauthorized',
      param: null,
    },
  });
});

test('without a configured admin token every request is refused', async () => {
  const config = readGatewayConfig({
    DATABASE_URL: 'postgres://unused',
    REDIS_URL: 'redis://unused',
  });
  const url = await gateway.test.serve(createGateway(config, gateway.test.context));
  const response = await registerBackend({ ...gateway, url }, { type: 'external' }, 'undefined');
  expect(response.status).toBe(401);
});

test('the backends are listed with their health and models, and indexes shift after a removal', async () => {
  const removed = await admin(gateway, 'DELETE', 'backends', { index: 0 });
  expect([removed.status, await removed.json()]).toEqual([
    200,
    { status: 'ok', message: 'backend removed' },
  ]);
  const names = ['one', 'two', 'three'];
  for (const name of names) {
    const url = name === 'two' ? 'http://127.0.0.1:9' : upstream.url;
    await registerBackend(gateway, { type: 'external', name, url, api_key: 'upstream secret' });
  }
  const list = async () => (await admin(gateway, 'GET', 'backends')).json();
  const entry = {
    state: 'Healthy',
    reason: null,
    checked_at: expect.any(String),
    type: 'external',
    circuit: 'closed',
    models: ['m'],
    dialects: [],
    limits: null,
  };
  const away = { state: 'Unhealthy', reason: expect.stringContaining('ECONNREFUSED'), models: [] };
  expect(await list()).toEqual({
    backends: {
      count: 2,
      health: [
        { ...entry, label: 'backend_0:external', name: 'one' },
        { ...entry, label: 'backend_1:external', name: 'two', ...away },
        { ...entry, label: 'backend_2:external', name: 'three' },
      ],
    },
    models: ['m'],
  });
  await admin(gateway, 'DELETE', 'backends', { index: 1 });
  expect(await list()).toMatchObject({
    backends: {
      health: [
        { label: 'backend_0:external', name: 'one' },
        { label: 'backend_1:external', name: 'three' },
      ],
    },
  });
  const kept = await gateway.test.context.database.backendConfigs.list();
  expect(kept.map(({ name }) => name)).toEqual(['one', 'three']);
});

test('a backend that died while the service was down gets no requests after the restart', async () => {
  const dying = await startChatUpstream({ models: ['dying'] });
  const backend = { type: 'external', name: 'dying', url: dying.url };
  const registered: unknown = await (await registerBackend(gateway, backend)).json();
  expect(registered).toMatchObject({ state: 'Healthy', reason: null });
  await dying.close();
  const peer = await gateway.test.openPeer();
  const config = readGatewayConfig({
    DATABASE_URL: 'postgres://unused',
    REDIS_URL: 'redis://unused',
  });
  const restarted = await gateway.test.serve(createGateway(config, peer));
  const response = await fetch(`${restarted}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}` },
    body: JSON.stringify({ model: 'dying', messages: [{ role: 'user', content: 'Hi' }] }),
  });
  expect(await response.json()).toMatchObject({ error: { message: 'all backends unhealthy' } });
  await admin(gateway, 'DELETE', 'backends', { index: (registered as { index: number }).index });
});

test('without fields the local model server is registered under the name of its type', async () => {
  const none = await admin(gateway, 'POST', 'backends');
  expect(none.status).toBe(400);
  expect(await none.json()).toMatchObject({ error: { code: 'invalid_body' } });
  const response = await admin(gateway, 'POST', 'backends', {});
  expect(await response.json()).toMatchObject({
    name: 'local-server',
    type: 'local-server',
    url: 'http://localhost:11434',
  });
});

test('the name defaults to the given type, and the capabilities are stored', async () => {
  const backend = { type: 'llama_cpp', url: upstream.url, capabilities: ['embeddings'] };
  const response = await registerBackend(gateway, backend);
  expect(await response.json()).toMatchObject({ name: 'llama_cpp', type: 'external' });
  const kept = await gateway.test.context.database.backendConfigs.list();
  expect(kept.at(-1)).toMatchObject({ name: 'llama_cpp', capabilities: ['embeddings'] });
});

test('an unreachable bridge is reported, and nothing is registered', async () => {
  const backend = { type: 'external', name: 'bridged', url: 'bridge://node/service' };
  const response = await registerBackend(gateway, backend);
  expect(response.status).toBe(502);
  expect(await response.json()).toMatchObject({ error: { code: 'bridge_unreachable' } });
  const list = await (await admin(gateway, 'GET', 'backends')).text();
  expect(list).not.toContain('bridged');
});

test.each([
  {
    why: 'no body',
    body: undefined,
    status: 400,
    code: 'missing_index',
    message: "Missing 'index' field",
  },
  {
    why: 'no index',
    body: {},
    status: 400,
    code: 'missing_index',
    message: "Missing 'index' field",
  },
  {
    why: 'an index that is a text',
    body: { index: '0' },
    status: 400,
    code: 'missing_index',
    message: "Missing 'index' field",
  },
  {
    why: 'an index too high',
    body: { index: 99 },
    status: 404,
    code: 'not_found',
    message: 'Backend not found at given index',
  },
  {
    why: 'an index too low',
    body: { index: -1 },
    status: 404,
    code: 'not_found',
    message: 'Backend not found at given index',
  },
  { why: 'bad JSON', body: '{', status: 400, code: 'invalid_json', message: expect.any(String) },
])('a removal with $why is refused with $status', async ({ body, status, code, message }) => {
  const response = await admin(gateway, 'DELETE', 'backends', body);
  expect(response.status).toBe(status);
  expect(await response.json()).toMatchObject({
    error: { type: 'invalid_request', code, message },
  });
});

test.each([
  { field: 'url', value: 5 },
  { field: 'api_key', value: {} },
  { field: 'name', value: '' },
  { field: 'models', value: [5] },
  { field: 'capabilities', value: ['magic'] },
  { field: 'type', value: [] },
  { field: 'workflow', value: 'nodes' },
  { field: 'workflow', value: { nodes: [{ 'a\u0000': 1 }] } },
  { field: 'workflow', value: { text: '\ud800' } },
  { field: 'models', value: ['a\u0000b'] },
  { field: 'models', value: ['\ud800'] },
  { field: 'models', value: ['m'.repeat(301)] },
  { field: 'name', value: 'a\udc00' },
  { field: 'api_key', value: 'a\u0000b' },
  { field: 'api_key', value: 'a\ud800' },
  { field: 'api_keys', value: ['k', 'a\ud800'] },
  { field: 'auth_header', value: 'a\u0000' },
  { field: 'url', value: 'http://a\u0000b' },
])('$field with $value is refused, and the field is named', async ({ field, value }) => {
  const response = await registerBackend(gateway, { type: 'external', [field]: value });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({
    error: { code: 'missing_fields', message: expect.stringContaining(`'${field}`) },
  });
});

test('only the admin gets 404 for an unknown admin path', async () => {
  for (const path of ['nothing', 'backends/0', '%ff', '']) {
    expect((await admin(gateway, 'GET', path, undefined, 'wrong')).status).toBe(401);
  }
  const response = await admin(gateway, 'GET', 'nothing');
  expect(response.status).toBe(404);
  expect(await response.json()).toMatchObject({
    error: { type: 'invalid_request', code: 'not_found' },
  });
});

test('the bearer prefix may be in any case', async () => {
  const response = await fetch(`${gateway.url}/api/admin/aliases`, {
    headers: { authorization: 'bEARER the admin token of the tests' },
  });
  expect(response.status).toBe(200);
});

test('a name that does not fit into a header is percent-encoded there, and one with control characters is refused', async () => {
  const registered = await registerBackend(gateway, {
    type: 'external',
    name: '日本',
    url: upstream.url,
    api_key: 'upstream secret',
  });
  expect(registered.status).toBe(200);
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}` },
    body: JSON.stringify({
      model: 'm',
      provider: '日本',
      messages: [{ role: 'user', content: 'Hi' }],
    }),
  });
  expect(response.status).toBe(200);
  expect(response.headers.get('x-service-backend')).toBe('%E6%97%A5%E6%9C%AC');
  const refused = await registerBackend(gateway, { type: 'external', name: 'a\r\nb' });
  expect(refused.status).toBe(400);
});

test('concurrent registrations each return their real index', async () => {
  const names = Array.from({ length: 8 }, (_, index) => `many-${index}`);
  const returned = await Promise.all(
    names.map(async (name) => {
      const response = await registerBackend(gateway, {
        type: 'external',
        name,
        url: upstream.url,
      });
      return ((await response.json()) as { index: number }).index;
    }),
  );
  const listing = (await (await admin(gateway, 'GET', 'backends')).json()) as {
    backends: { health: { name: string }[] };
  };
  const real = names.map((name) =>
    listing.backends.health.findIndex((entry) => entry.name === name),
  );
  expect(returned).toEqual(real);
});
