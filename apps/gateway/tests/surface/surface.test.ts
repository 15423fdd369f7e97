import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib';
import SwaggerParser from '@apidevtools/swagger-parser';
import { ADMIN_TOKEN, startGateway, type GatewayUnderTest } from '../gateway.ts';

let gateway: GatewayUnderTest;
beforeAll(async () => {
  gateway = await startGateway({ SERVICE_API_RATE_LIMIT_RPM: '1000' });
});
afterAll(() => gateway.test.close());

test.each(['/v1/health', '/api/health', '/health', '/healthz', '/readyz', '/v1/health/'])(
  '%s reports that the service and its stores are available',
  async (path) => {
    const response = await fetch(`${gateway.url}${path}`);
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({
      status: 'ok',
      version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
      build_hash: 'dev',
      models: 0,
      providers: [],
      checks: { postgres: 'ok', redis: 'ok' },
    });
  },
);

test('metrics are in the Prometheus text form', async () => {
  const response = await fetch(`${gateway.url}/metrics`);
  expect(response.headers.get('content-type')).toContain('text/plain');
  expect(await response.text()).toContain('process_cpu_seconds_total');
});

test('an unknown path returns a JSON error with a request id', async () => {
  const response = await fetch(`${gateway.url}/v1/nothing`);
  expect(response.status).toBe(404);
  expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  expect(await response.json()).toMatchObject({
    error: { type: 'invalid_request', code: 'not_found' },
  });
});

test('a malformed path is a client error', async () => {
  const response = await fetch(`${gateway.url}/api/admin/%ff`);
  expect([400, 401]).toContain(response.status);
});

interface Description {
  readonly paths: Readonly<Record<string, object>>;
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> };
}

const description = async () =>
  (await (await fetch(`${gateway.url}/openapi.json`)).json()) as Description;

test('swagger-parser finds no error in the API description', async () => {
  const document = (await description()) as unknown as Parameters<typeof SwaggerParser.validate>[0];
  expect(await SwaggerParser.validate(document)).toMatchObject({ openapi: '3.1.0' });
});

test('the API description contains every request field that the gateway reads', async () => {
  const { schemas } = (await description()).components;
  const chat =
    'model messages stream temperature max_tokens conversation_id memory extra tools provider models';
  expect(schemas['ChatRequest']).toMatchObject({
    properties: {
      ...Object.fromEntries(chat.split(' ').map((field) => [field, expect.anything()])),
      messages: {
        items: {
          properties: {
            role: expect.anything(),
            content: expect.anything(),
            images: expect.anything(),
            tool_calls: expect.anything(),
          },
        },
      },
    },
  });
  const backend = 'type url api_key name models workflow capabilities';
  expect(schemas['BackendRequest']).toMatchObject({
    properties: Object.fromEntries(backend.split(' ').map((field) => [field, expect.anything()])),
  });
});

test('the API description lists what the gateway serves', async () => {
  const operations = Object.entries((await description()).paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  expect(operations).toEqual([
    'POST /v1/chat/completions',
    'POST /v1/messages',
    'POST /v1/messages/count_tokens',
    'POST /v1/responses',
    'POST /v1/responses/input_tokens',
    'GET /v1/responses/{id}',
    'DELETE /v1/responses/{id}',
    'GET /v1/responses/{id}/input_items',
    'POST /v1/embeddings',
    'POST /v1/completions',
    'POST /v1/rerank',
    'POST /v1/moderations',
    'POST /v1/images/generations',
    'POST /v1/audio/speech',
    'POST /v1/audio/transcriptions',
    'POST /v1/audio/translations',
    'POST /v1/video/generations',
    'GET /v1/video/generations/{id}',
    'GET /v1/models',
    'GET /v1/models/{id}',
    'GET /v1/health',
    'GET /api/health',
    'GET /health',
    'GET /healthz',
    'GET /readyz',
    'GET /api/admin/backends',
    'POST /api/admin/backends',
    'DELETE /api/admin/backends',
    'GET /api/admin/backends/by-name/{name}',
    'PUT /api/admin/backends/by-name/{name}',
    'PATCH /api/admin/backends/by-name/{name}',
    'DELETE /api/admin/backends/by-name/{name}',
    'POST /api/admin/backends/by-name/{name}/test',
    'GET /api/admin/aliases',
    'POST /api/admin/aliases',
    'DELETE /api/admin/aliases',
    'GET /api/admin/route',
    'POST /api/admin/usage/query',
    'GET /api/admin/audit',
    'GET /metrics',
    'GET /api/usage.csv',
  ]);
});

test.each([
  { why: 'x-api-key', headers: () => ({ 'x-api-key': gateway.key }), status: 200 },
  { why: 'api-key', headers: () => ({ 'api-key': ` ${gateway.key} ` }), status: 200 },
  {
    why: 'another header beside a wrong Authorization',
    headers: () => ({ 'x-api-key': gateway.key, authorization: 'Bearer wrong' }),
    status: 401,
  },
  { why: 'an empty header', headers: () => ({ 'x-api-key': ' ' }), status: 401 },
])('a key in $why', async ({ headers, status }) => {
  for (const path of ['/v1/models', '/v1/models/?x=1', '/v1/models/google/gemma-3-1b-it/']) {
    const init = { headers: headers() as Record<string, string> };
    expect((await fetch(`${gateway.url}${path}`, init)).status).toBe(status);
  }
  const chat = await fetch(`${gateway.url}/v1/chat/completions/`, {
    method: 'POST',
    headers: headers() as Record<string, string>,
    body: '{}',
  });
  expect(chat.status).toBe(status === 200 ? 400 : status);
});

test('an admin token is not taken from a header for keys', async () => {
  const headers = { 'x-api-key': ADMIN_TOKEN };
  expect((await fetch(`${gateway.url}/api/admin/backends`, { headers })).status).toBe(401);
});

describe.each([
  { accept: 'application/json', isJson: true },
  { accept: 'application/json, text/plain', isJson: false },
  { accept: 'text/event-stream', isJson: true },
  { accept: '*/*', isJson: false },
])('a missing key is refused for Accept: $accept', ({ accept, isJson }) => {
  const message = 'Missing Authorization header. Use: Bearer <api_key>';
  const type = 'invalid_request_error';
  const error = { message, type, code: 'invalid_api_key', param: null };
  test.each([
    { method: 'POST', path: 'chat/completions', isOwn: false },
    { method: 'POST', path: 'embeddings', isOwn: false },
    { method: 'GET', path: 'video/generations/x', isOwn: false },
    { method: 'POST', path: 'responses', isOwn: true },
    { method: 'GET', path: 'responses/x', isOwn: true },
    { method: 'POST', path: 'completions', isOwn: true },
    { method: 'POST', path: 'audio/transcriptions', isOwn: true },
  ])('$method $path', async ({ method, path, isOwn }) => {
    const body = method === 'POST' ? { body: '{}' } : {};
    const response = await fetch(`${gateway.url}/v1/${path}`, {
      method,
      headers: { accept },
      ...body,
    });
    expect(response.status).toBe(401);
    expect(await response.text()).toBe(isJson || isOwn ? JSON.stringify({ error }) : message);
  });
});

describe('a compressed body', () => {
  const send = (body: Uint8Array, encoding: string): Promise<Response> =>
    fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'x-api-key': gateway.key, 'content-encoding': encoding },
      body: Buffer.from(body),
    });
  const errorOf = async (response: Response) =>
    [response.status, ((await response.json()) as { error: { code: string } }).error.code] as const;
  const chat = Buffer.from(
    JSON.stringify({ model: 'missing', messages: [{ role: 'user', content: 'Hi' }] }),
  );

  test.each([
    { encoding: 'gzip', body: gzipSync(chat) },
    { encoding: 'GZIP', body: gzipSync(chat) },
    { encoding: 'deflate', body: deflateSync(chat) },
    { encoding: 'br', body: brotliCompressSync(chat) },
    { encoding: 'identity', body: chat },
  ])('is read: $encoding', async ({ encoding, body }) => {
    expect(await errorOf(await send(body, encoding))).toEqual([404, 'model_not_found']);
  });

  const zeros = Buffer.alloc(16 * 1024 * 1024, ' ');
  test.each([
    { encoding: 'gzip', body: gzipSync(zeros).subarray(0, 9_000) },
    {
      encoding: 'br',
      body: brotliCompressSync(zeros, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
    },
  ])('is bounded after decompression: $encoding', async ({ encoding, body }) => {
    expect(body.length).toBeLessThan(10_000);
    expect(await errorOf(await send(body, encoding))).toEqual([413, 'request_too_large']);
  });

  test.each([
    { why: 'an unknown encoding', encoding: 'compress', expected: [415, 'unsupported_encoding'] },
    { why: 'two encodings', encoding: 'gzip, br', expected: [415, 'unsupported_encoding'] },
    { why: 'other data', encoding: 'gzip', expected: [400, 'invalid_request'] },
  ])('is refused: $why', async ({ encoding, expected }) => {
    expect(await errorOf(await send(chat, encoding))).toEqual(expected);
  });

  test('that ends early is refused', async () => {
    const cut = gzipSync(chat).subarray(0, 30);
    expect(await errorOf(await send(cut, 'gzip'))).toEqual([400, 'invalid_request']);
  });
});

test('browsers on a configured origin may call; others are refused', async () => {
  const preflight = (origin: string) =>
    fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization',
      },
    });
  const allowed = await preflight('https://app.example.com');
  expect(allowed.status).toBe(204);
  expect(allowed.headers.get('access-control-allow-origin')).toBe('https://app.example.com');
  expect(allowed.headers.get('access-control-allow-headers')).toBe('authorization');
  // Clients use these headers to decide whether to retry.
  const exposed = allowed.headers.get('access-control-expose-headers')?.split(', ');
  expect(exposed).toEqual(expect.arrayContaining(['retry-after', 'x-should-retry']));
  const refused = await preflight('https://evil.example.com');
  expect(refused.headers.get('access-control-allow-origin')).toBeNull();
  expect(refused.status).toBe(403);
  expect(await refused.json()).toMatchObject({ error: { code: 'origin_not_allowed' } });
});
