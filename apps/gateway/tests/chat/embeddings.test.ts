import {
  startChatUpstream,
  startOllamaServer,
  type RunningChatUpstream,
  type RunningOllamaServer,
} from '@model-gateway/testkit/upstreams';
import OpenAI from 'openai';
import { admin, registerBackend, startGateway, type GatewayUnderTest } from '../gateway.ts';
import { takeUsage } from '../money/usage-journal.ts';

let gateway: GatewayUnderTest;
let upstream: RunningChatUpstream;
let local: RunningOllamaServer;

beforeAll(async () => {
  gateway = await startGateway({ SERVICE_BREAKER_FAILURES: '1000' });
  upstream = await startChatUpstream({ models: ['embedder:latest', 'cached', 'shared'] });
  local = await startOllamaServer({ models: ['small:latest'] });
  await registerBackend(gateway, { type: 'external', name: 'up', url: upstream.url });
  await registerBackend(gateway, { type: 'local-server', name: 'local', url: local.url });
});
afterEach(() => upstream.faults.clear());
afterAll(async () => {
  await gateway.test.close();
  await Promise.all([upstream.close(), local.close()]);
});

function embed(body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  return fetch(`${gateway.url}/v1/embeddings`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

interface Embeddings {
  readonly data: readonly { embedding: number[] | string; index: number; object: string }[];
  readonly usage: unknown;
}

const read = async (response: Response): Promise<Embeddings> => {
  expect(response.status).toBe(200);
  return (await response.json()) as Embeddings;
};

test('texts become vectors, metered before the response ends', async () => {
  const response = await embed(
    { model: 'embedder', input: ['one', 'two words'], user: 'u', dimensions: 8, provider: 'up' },
    { 'x-service-ref': 'invoice-8' },
  );
  expect(response.headers.get('x-service-backend')).toBe('up');
  expect(await read(response)).toMatchObject({
    object: 'list',
    data: [
      { object: 'embedding', index: 0, embedding: expect.any(Array) },
      { object: 'embedding', index: 1, embedding: expect.any(Array) },
    ],
    model: 'embedder:latest',
    usage: { prompt_tokens: 3, completion_tokens: 0, total_tokens: 3 },
  });
  const sent = upstream.requests.at(-1)?.body;
  expect(sent).toEqual({
    model: 'embedder:latest',
    input: ['one', 'two words'],
    user: 'u',
    dimensions: 8,
  });
  expect(await takeUsage(gateway.test.context.bus.journal, 1)).toMatchObject([
    {
      user_id: gateway.userId,
      key_id: gateway.keyId,
      model: 'embedder:latest',
      backend: 'gateway',
      prompt_tokens: 3,
      completion_tokens: 0,
      total_tokens: 3,
      ref_id: 'invoice-8',
      upstream: 'up',
      status: 200,
      latency_ms: expect.any(Number) as number,
    },
  ]);
});

test('the official client gets the same vectors packed, which is its default, and as numbers', async () => {
  const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.key, maxRetries: 0 });
  const request = { model: 'embedder', input: 'Hello!' };
  const packed = await client.embeddings.create(request);
  const floats = await client.embeddings.create({ ...request, encoding_format: 'float' });
  expect(packed.data[0]?.embedding).toHaveLength(256);
  expect([...(packed.data[0]?.embedding ?? [])]).toEqual(
    floats.data[0]?.embedding.map((value) => Math.fround(value)),
  );
  const raw = await read(await embed({ ...request, encoding_format: 'base64' }));
  expect(typeof raw.data[0]?.embedding).toBe('string');
  const sent = upstream.requests.at(-1)?.body;
  expect(sent).toEqual({
    model: 'embedder:latest',
    input: 'Hello!',
    encoding_format: 'base64',
  });
});

test('token ids are passed on to an OpenAI-compatible upstream, and refused for others', async () => {
  const one = await read(await embed({ model: 'embedder', input: [1, 2, 3] }));
  expect(one.data).toHaveLength(1);
  expect(upstream.requests.at(-1)?.body).toMatchObject({ input: [1, 2, 3] });
  const several = await read(await embed({ model: 'embedder', input: [[1, 2], [3]] }));
  expect(several.data).toHaveLength(2);
  await registerBackend(gateway, {
    type: 'azure',
    name: 'azure',
    url: `${upstream.url}/v1`,
    models: ['deployed'],
  });
  await embed({ model: 'deployed', input: [1, 2, 3] });
  expect(upstream.requests.at(-1)?.body).toMatchObject({ model: 'deployed', input: [1, 2, 3] });
  const refused = await embed({ model: 'small', input: [1, 2, 3] });
  expect(refused.status).toBe(400);
  expect(await refused.json()).toMatchObject({ error: { code: 'missing_fields' } });
});

test('a local model server embeds too', async () => {
  const response = await embed({ model: 'small', input: ['one', 'two'] });
  expect(response.headers.get('x-service-backend')).toBe('local');
  expect((await read(response)).data).toHaveLength(2);
  await read(await embed({ model: 'small', input: 'one', encoding_format: 'base64' }));
  const sent = local.requests.at(-1)?.body;
  expect(sent).toEqual({ model: 'small:latest', input: 'one' });
});

test('an alias is resolved', async () => {
  await admin(gateway, 'POST', 'aliases', { alias: 'my-embedder', target: 'embedder' });
  await read(await embed({ model: 'my-embedder', input: 'x' }));
  expect(upstream.requests.at(-1)?.body).toMatchObject({ model: 'embedder:latest' });
});

test('usage that the upstream does not report is estimated', async () => {
  upstream.faults.next({ kind: 'no-usage' });
  expect((await read(await embed({ model: 'embedder', input: 'Hello World!' }))).usage).toEqual({
    prompt_tokens: 3,
    completion_tokens: 0,
    total_tokens: 3,
  });
});

const vector = { object: 'embedding', index: 0, embedding: [0.1, 0.2] };
const answered = (usage: unknown) => ({
  kind: 'status' as const,
  status: 200,
  body: { object: 'list', data: [vector], model: 'embedder', usage },
});

test('tokens that the upstream read from its cache are reported and metered as such', async () => {
  const details = { prompt_tokens_details: { cached_tokens: 8 } };
  upstream.faults.next(answered({ prompt_tokens: 10, total_tokens: 10, ...details }));
  expect((await read(await embed({ model: 'cached', input: 'Hello' }))).usage).toEqual({
    prompt_tokens: 10,
    completion_tokens: 0,
    total_tokens: 10,
    ...details,
  });
  expect(await takeUsage(gateway.test.context.bus.journal, 1, 'cached')).toMatchObject([
    { prompt_tokens: 10, cached_tokens: 8 },
  ]);
});

test.each([
  { what: 'only a total', usage: { total_tokens: 7 }, tokens: 7 },
  { what: 'numbers that are none', usage: { prompt_tokens: 'many' }, tokens: 2 },
])('usage with $what does not fail the request', async ({ usage, tokens }) => {
  upstream.faults.next(answered(usage));
  expect((await read(await embed({ model: 'embedder', input: 'Hello' }))).usage).toMatchObject({
    prompt_tokens: tokens,
  });
});

test('after a failure the request is retried once on another backend', async () => {
  const other = await startChatUpstream({ models: ['shared'] });
  await registerBackend(gateway, { type: 'external', name: 'other', url: other.url });
  upstream.faults.always({ kind: 'status', status: 503 });
  other.faults.always({ kind: 'slow-start', delayMs: 1 });
  for (let round = 0; round < 4; round += 1) {
    const response = await embed({ model: 'shared', input: 'x' });
    expect(response.headers.get('x-service-backend')).toBe('other');
    await read(response);
  }
  other.faults.always({ kind: 'reset' });
  const failed = await embed({ model: 'shared', input: 'x' });
  expect(failed.status).toBe(502);
  await other.close();
});

/** The field that the message names. */
const NAMED: unknown = expect.any(String);

test.each([
  { why: 'bad JSON', body: '{', status: 400, code: 'invalid_json' },
  { why: 'no model', body: { input: 'x' }, status: 400, code: 'missing_fields' },
  { why: 'no input', body: { model: 'embedder' }, status: 400, code: 'missing_fields' },
  {
    why: 'nothing to embed',
    body: { model: 'embedder', input: [] },
    status: 400,
    code: 'missing_fields',
  },
  {
    why: 'mixed input',
    body: { model: 'embedder', input: ['x', 1] },
    status: 400,
    code: 'missing_fields',
  },
  {
    why: 'an unknown encoding',
    body: { model: 'embedder', input: 'x', encoding_format: 'int8' },
    status: 400,
    code: 'missing_fields',
  },
  {
    why: 'a body too large',
    body: { model: 'embedder', input: 'x'.repeat(10_001) },
    status: 413,
    code: 'request_too_large',
  },
  {
    why: 'an unknown model',
    body: { model: 'missing', input: 'x' },
    status: 404,
    code: 'model_not_found',
  },
  {
    why: 'a provider that does not serve the model',
    body: { model: 'embedder', input: 'x', provider: 'local' },
    status: 404,
    code: 'model_not_found',
  },
])('$why is refused with $status $code', async ({ body, status, code }) => {
  const response = await embed(body);
  expect(response.status).toBe(status);
  expect(await response.json()).toMatchObject({
    error: {
      code,
      message: expect.any(String),
      param: code === 'missing_fields' ? NAMED : null,
    },
  });
});

test.each([
  {
    fault: { kind: 'status', status: 400, body: { error: { message: 'no' } } },
    message: 'upstream 400: no',
  },
  { fault: { kind: 'reset' }, message: expect.any(String) },
  { fault: { kind: 'garbage-json' }, message: expect.any(String) },
  { fault: { kind: 'error-body' }, message: expect.stringMatching(/^upstream 200: /) },
] as const)('an upstream with $fault.kind is a bad gateway', async ({ fault, message }) => {
  upstream.faults.next(fault);
  const response = await embed({ model: 'embedder', input: 'x' });
  expect(response.status).toBe(502);
  expect(await response.json()).toMatchObject({
    error: { type: 'server_error', code: 'bad_gateway', message },
  });
});

test('a client that disconnects aborts the upstream', async () => {
  upstream.faults.next({ kind: 'hang' });
  const before = upstream.requests.length;
  const abort = new AbortController();
  const request = fetch(`${gateway.url}/v1/embeddings`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}` },
    body: JSON.stringify({ model: 'embedder', input: 'x' }),
    signal: abort.signal,
  });
  await upstream.until(() => upstream.requests.length > before);
  abort.abort();
  await expect(request).rejects.toThrow();
  await upstream.until(() => upstream.aborted > 0);
});
