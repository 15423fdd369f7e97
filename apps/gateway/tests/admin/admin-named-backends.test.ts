import {
  startChatUpstream,
  startCloudVideo,
  type RunningChatUpstream,
  type RunningCloudVideo,
} from '@model-gateway/testkit/upstreams';
import { admin, registerBackend, startGateway, type GatewayUnderTest } from '../gateway.ts';

const KEY = 'the key of the upstream';

let gateway: GatewayUnderTest;
let upstream: RunningChatUpstream;
let video: RunningCloudVideo;

beforeAll(async () => {
  gateway = await startGateway();
  upstream = await startChatUpstream({
    models: ['text-embedding-x', 'm'],
    apiKey: KEY,
    answer: () => `OK ${'😀'.repeat(300)}`,
  });
  video = await startCloudVideo();
});
afterAll(async () => {
  await gateway.test.close();
  await upstream.close();
  await video.close();
});
beforeEach(async () => {
  const backend = { type: 'external', name: 'a/b', url: upstream.url, api_key: KEY };
  await registerBackend(gateway, { ...backend, models: ['static'] });
});

/** Calls the routes of the backend with this name. */
async function named(method: string, path: string, body?: unknown) {
  const response = await admin(gateway, method, `backends/by-name/${path}`, body);
  const answer: unknown = await response.json();
  return { status: response.status, body: answer };
}

const PATH = encodeURIComponent('a/b');

test('a backend is read by its name, with its registration and without its key', async () => {
  const { status, body } = await named('GET', PATH);
  expect(status).toBe(200);
  expect(body).toEqual({
    label: expect.stringMatching(/^backend_\d+:external$/),
    state: 'Healthy',
    reason: null,
    checked_at: expect.any(String),
    name: 'a/b',
    type: 'external',
    circuit: 'closed',
    models: ['static', 'text-embedding-x', 'm'],
    dialects: [],
    limits: null,
    index: expect.any(Number),
    url: upstream.url,
    has_api_key: true,
    api_key_count: 1,
    auth_header: null,
    static_models: ['static'],
    capabilities: ['chat', 'embeddings'],
  });
});

test('PUT registers or replaces a backend under the name in the path', async () => {
  const put = await named('PUT', 'new', { type: 'vllm', url: upstream.url, api_key: KEY });
  expect(put).toMatchObject({
    status: 200,
    body: { message: 'backend registered', name: 'new', type: 'external', state: 'Healthy' },
  });
  expect(put.body).not.toHaveProperty('warnings');
  for (const method of ['PUT', 'PATCH'])
    expect(await named(method, 'new')).toMatchObject({
      status: 400,
      body: { error: { code: 'invalid_body' } },
    });
  expect((await named('GET', 'new')).body).toMatchObject({ has_api_key: true });
  const again = await named('PUT', 'new', { type: 'external', url: upstream.url });
  expect(again.body).toMatchObject({
    warnings: [expect.stringContaining("'new' has no key any more")],
    state: 'Degraded',
    reason: expect.stringMatching(/401.*api_key/),
  });
  expect((await named('GET', 'new')).body).toMatchObject({ has_api_key: false });
  expect(await named('DELETE', 'new')).toEqual({
    status: 200,
    body: { status: 'ok', message: 'backend removed' },
  });
  expect((await named('GET', 'new')).status).toBe(404);
});

test('of two PATCHes at the same time none loses what the other changed', async () => {
  const [one, other] = await Promise.all([
    named('PATCH', PATH, { models: ['other'] }),
    named('PATCH', PATH, { capabilities: ['chat'] }),
  ]);
  expect([one?.status, other?.status]).toEqual([200, 200]);
  expect((await named('GET', PATH)).body).toMatchObject({
    static_models: ['other'],
    capabilities: ['chat'],
  });
});

test('PATCH changes what it names, keeps the rest and probes the backend', async () => {
  const before = await named('GET', PATH);
  const patched = await named('PATCH', PATH, { models: ['other'], capabilities: ['chat'] });
  expect(patched.body).toMatchObject({ message: 'backend changed', name: 'a/b', state: 'Healthy' });
  const { index } = before.body as { index: number };
  expect((await named('GET', PATH)).body).toMatchObject({
    index,
    has_api_key: true,
    static_models: ['other'],
    capabilities: ['chat'],
  });
  const unset = { api_key: null, models: null, capabilities: null };
  expect((await named('PATCH', PATH, unset)).body).toMatchObject({ state: 'Degraded' });
  expect((await named('GET', PATH)).body).toMatchObject({
    has_api_key: false,
    static_models: [],
    capabilities: ['chat', 'embeddings'],
  });
});

test('several keys replace one and the other way around, and are never shown', async () => {
  const keys = ['a key that is refused', KEY];
  expect((await named('PATCH', PATH, { api_keys: keys })).body).toMatchObject({ state: 'Healthy' });
  const shown = await named('GET', PATH);
  expect(shown.body).toMatchObject({ has_api_key: true, api_key_count: 2 });
  const listed = await (await admin(gateway, 'GET', 'backends')).text();
  for (const key of keys) expect(JSON.stringify(shown) + listed).not.toContain(key);
  const away = { url: 'http://127.0.0.1:9' };
  expect((await named('PATCH', PATH, away)).body).toMatchObject({
    error: { message: expect.stringContaining('the stored key is not sent there') },
  });
  for (const [body, message] of [
    [{ api_key: KEY, api_keys: keys }, "'api_keys': give it or 'api_key', not both"],
    [{ type: 'ollama' }, "'api_keys': only a backend of the kinds"],
  ] as const) {
    const answer = await named('PATCH', PATH, body);
    expect(answer).toMatchObject({
      status: 400,
      body: { error: { message: expect.stringContaining(message) } },
    });
  }
  await named('PATCH', PATH, { api_key: KEY });
  expect((await named('GET', PATH)).body).toMatchObject({ api_key_count: 1 });
  await named('PATCH', PATH, { api_keys: keys });
  await named('PATCH', PATH, { api_keys: null });
  expect((await named('GET', PATH)).body).toMatchObject({ has_api_key: false, api_key_count: 0 });
});

test('PATCH sets, shows, replaces and removes the limits of a backend', async () => {
  const shown = async () => (await named('GET', PATH)).body as Readonly<Record<string, unknown>>;
  const none = { rpm: null, tpm: null, concurrency: null, tokens_per_day: null };
  await named('PATCH', PATH, { limits: { rpm: 60, tokens_per_day: 1_000_000 } });
  expect((await shown())['limits']).toEqual({ ...none, rpm: 60, tokens_per_day: 1_000_000 });
  await named('PATCH', PATH, { models: ['other'] });
  expect((await shown())['limits']).toMatchObject({ rpm: 60 });
  await named('PATCH', PATH, { limits: { concurrency: 4, rpm: null } });
  expect((await shown())['limits']).toEqual({ ...none, concurrency: 4 });
  for (const limits of [{ rpm: 0 }, { rpm: 1.5 }, { concurrent: 4 }, 'many']) {
    expect((await named('PATCH', PATH, { limits })).status).toBe(400);
  }
  await named('PATCH', PATH, { limits: null });
  expect((await shown())['limits']).toBeNull();
});

test('every call has the query of the URL, and the key in the header that was named', async () => {
  const azure = { type: 'external', url: `${upstream.url}/v1?api-version=2024-10-21&x=1` };
  const put = await named('PUT', 'azure', { ...azure, api_key: KEY, auth_header: 'api-key' });
  expect(put.body).toMatchObject({ url: azure.url, state: 'Degraded' });
  expect((await named('GET', 'azure')).body).toMatchObject({ auth_header: 'api-key' });
  const probed = upstream.requests.at(-1);
  expect(probed?.query).toEqual({ 'api-version': '2024-10-21', x: '1' });
  expect(probed?.headers).toMatchObject({ 'api-key': KEY });
  expect(probed?.headers.authorization).toBeUndefined();

  const patched = await named('PATCH', 'azure', { auth_header: 'Authorization: Bearer' });
  expect(patched.body).toMatchObject({ state: 'Healthy' });
  const tested = await named('POST', 'azure/test', { model: 'm' });
  expect(tested.body).toMatchObject({ chat: { status: 'ok' } });
  expect(upstream.requests.at(-1)).toMatchObject({
    path: '/v1/chat/completions',
    query: { 'api-version': '2024-10-21', x: '1' },
  });
  await named('PATCH', 'azure', { auth_header: null });
  expect((await named('GET', 'azure')).body).toMatchObject({ auth_header: null });
  await named('DELETE', 'azure');
});

test('a stored key is not sent to another host', async () => {
  const refused = await named('PATCH', PATH, { url: 'http://127.0.0.1:9' });
  expect(refused).toMatchObject({
    status: 400,
    body: { error: { message: expect.stringContaining("'api_key'") } },
  });
  expect((await named('GET', PATH)).body).toMatchObject({ url: upstream.url });
  const moved = { url: `${upstream.url}/v1` };
  expect((await named('PATCH', PATH, moved)).body).toMatchObject({ ...moved, state: 'Healthy' });
  const withKey = { url: 'http://127.0.0.1:9', api_key: 'another' };
  expect((await named('PATCH', PATH, withKey)).body).toMatchObject({ state: 'Unhealthy' });
});

test.each([
  { why: 'an unknown name', method: 'GET', path: 'nobody', status: 404, code: 'not_found' },
  { why: 'an unknown name', method: 'PATCH', path: 'nobody', status: 404, code: 'not_found' },
  { why: 'an unknown name', method: 'DELETE', path: 'nobody', status: 404, code: 'not_found' },
  { why: 'an unknown name', method: 'POST', path: 'nobody/test', status: 404, code: 'not_found' },
  {
    why: 'another name',
    method: 'PATCH',
    path: PATH,
    body: { name: 'b' },
    code: 'invalid_request',
  },
  { why: 'another name', method: 'PUT', path: PATH, body: { name: 'b' }, code: 'invalid_request' },
  { why: 'a wrong field', method: 'PATCH', path: PATH, body: { url: 5 }, code: 'missing_fields' },
  {
    why: 'an unknown type',
    method: 'PATCH',
    path: PATH,
    body: { type: 'x' },
    code: 'unknown_type',
  },
  {
    why: 'a wrong model',
    method: 'POST',
    path: `${PATH}/test`,
    body: { model: 5 },
    code: 'missing_fields',
  },
  {
    why: 'no header name',
    method: 'PATCH',
    path: PATH,
    body: { auth_header: 'a b' },
    code: 'missing_fields',
  },
  {
    why: 'a header of HTTP',
    method: 'PATCH',
    path: PATH,
    body: { auth_header: 'Host' },
    code: 'missing_fields',
  },
  {
    why: 'a header for another kind',
    method: 'PUT',
    path: 'x',
    body: { type: 'ollama', auth_header: 'api-key' },
    code: 'missing_fields',
  },
  { why: 'another method', method: 'POST', path: PATH, status: 405, code: 'method_not_allowed' },
])('$method $path with $why is refused', async ({ method, path, body, status = 400, code }) => {
  const refused = await named(method, path, body ?? (method === 'GET' ? undefined : {}));
  expect(refused).toMatchObject({ status, body: { error: { code } } });
});

test('the backend of a GPU node is not changed by hand', async () => {
  const agent = { name: 'agent-x', type: 'agent', url: upstream.url, models: ['x'] };
  const config = { ...agent, apiKey: null, capabilities: null };
  await gateway.test.context.database.backendConfigs.save(config);
  await registerBackend(gateway, { type: 'external', name: 'z', url: upstream.url });
  const refused = await named('PATCH', 'agent-x', { models: [] });
  expect(refused).toMatchObject({
    status: 400,
    body: { error: { message: expect.stringContaining('agents.stop') } },
  });
});

test('a test probes the backend and chats with a model that seems to chat', async () => {
  await named('PATCH', PATH, { models: null });
  const { status, body } = await named('POST', `${PATH}/test`);
  expect(status).toBe(200);
  expect(body).toEqual({
    status: 'ok',
    name: 'a/b',
    type: 'external',
    probe: {
      state: 'Healthy',
      reason: null,
      checked_at: expect.any(String),
      latency_ms: expect.any(Number),
    },
    chat: {
      status: 'ok',
      reason: null,
      model: 'm',
      latency_ms: expect.any(Number),
      text: `OK ${'😀'.repeat(197)}`,
    },
  });
});

test('a test tells what went wrong with the chat, and the state stays that of the probe', async () => {
  const { body } = await named('POST', `${PATH}/test`, { model: 'absent' });
  expect(body).toMatchObject({
    status: 'failed',
    probe: { state: 'Healthy' },
    chat: {
      status: 'failed',
      model: 'absent',
      reason: expect.stringMatching(/^upstream 404: The model `absent` does not exist/),
      text: null,
    },
  });
});

test('a test uses the token limit that the model asks for', async () => {
  const message = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.";
  upstream.faults.next({ kind: 'status', status: 400, body: { error: { message } } });
  const { body } = await named('POST', `${PATH}/test`, { model: 'm' });
  expect(body).toMatchObject({ status: 'ok', chat: { status: 'ok' } });
  const sent = upstream.requests.slice(-2).map(({ body: sentBody }) => sentBody);
  expect(sent).toMatchObject([{ max_tokens: 16 }, { max_completion_tokens: 16 }]);
});

test('a test of a backend that does not answer, or cannot chat, only probes it', async () => {
  await named('PUT', 'away', { type: 'external', url: 'http://127.0.0.1:9', models: ['m'] });
  expect((await named('POST', 'away/test')).body).toMatchObject({
    status: 'failed',
    probe: {
      state: 'Unhealthy',
      reason: expect.stringMatching(/ECONNREFUSED.*; start the server/),
    },
    chat: { status: 'skipped', model: null },
  });
  await named('PUT', 'clips', { type: 'cloud-video', url: video.url, models: ['v'] });
  expect((await named('POST', 'clips/test')).body).toMatchObject({
    status: 'ok',
    probe: { state: 'Healthy' },
    chat: { status: 'skipped', reason: 'the backend does not support chat' },
  });
});
