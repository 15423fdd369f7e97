import { startChatUpstream, type RunningChatUpstream } from '@model-gateway/testkit/upstreams';
import OpenAI, {
  APIError,
  BadRequestError,
  InternalServerError,
  NotFoundError,
  RateLimitError,
  UnprocessableEntityError,
} from 'openai';
import { admin, registerBackend, startGateway, type GatewayUnderTest } from '../gateway.ts';

let gateway: GatewayUnderTest;
/** A new one for every test, with a model of its own: no test changes what another one gets. */
let upstream: RunningChatUpstream;
let model = '';
let upstreams = 0;

beforeAll(async () => {
  gateway = await startGateway({ SERVICE_API_RATE_LIMIT_RPM: '100000' });
});
afterAll(() => gateway.test.close());
beforeEach(async () => {
  upstreams += 1;
  model = `demo-chat-${upstreams}`;
  upstream = await startChatUpstream({ models: [model] });
  await registerBackend(gateway, { type: 'external', name: `up-${upstreams}`, url: upstream.url });
});
afterEach(async () => {
  for (;;) {
    const { status } = await admin(gateway, 'DELETE', 'backends', { index: 0 });
    if (status !== 200) break;
  }
  await upstream.close();
});

function chat(more: object = {}, headers: Readonly<Record<string, string>> = {}) {
  return fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, ...headers },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello!' }], ...more }),
  });
}

async function codeOf(response: Response): Promise<string> {
  return ((await response.json()) as { error: { code: string } }).error.code;
}

describe('the official client', () => {
  const client = (headers: Readonly<Record<string, string>> = {}, maxRetries = 2) =>
    new OpenAI({
      baseURL: `${gateway.url}/v1`,
      apiKey: gateway.key,
      maxRetries,
      defaultHeaders: headers,
    });
  const messages = [{ role: 'user' as const, content: 'Hi' }];
  const asUpstream = { 'x-service-errors': 'upstream' };
  const calls = [
    (openai: OpenAI) => openai.chat.completions.create({ model, messages }),
    (openai: OpenAI) => openai.chat.completions.create({ model, messages, stream: true }),
    (openai: OpenAI) => openai.embeddings.create({ model, input: 'x' }),
  ];
  const tooLong = {
    message: 'at most 8192 tokens',
    type: 'invalid_request_error',
    code: 'context_length_exceeded',
    param: 'messages',
  };
  const failureOf = async (call: Promise<unknown>): Promise<InstanceType<typeof APIError>> => {
    const thrown: unknown = await call.then(
      () => undefined,
      (error: unknown) => error,
    );
    if (!(thrown instanceof APIError)) throw new Error('the call did not fail', { cause: thrown });
    return thrown;
  };

  test.each([
    { status: 400, type: BadRequestError },
    { status: 404, type: NotFoundError },
    { status: 413, type: APIError },
    { status: 422, type: UnprocessableEntityError },
  ])('gets $status of the upstream as its own if it asks for it', async ({ status, type }) => {
    upstream.faults.always({ kind: 'status', status, body: { error: tooLong } });
    for (const call of calls) {
      const before = upstream.requestCount;
      const failure = await failureOf(call(client(asUpstream)));
      expect(failure).toBeInstanceOf(type);
      expect(failure).toMatchObject({ status, message: `${status} at most 8192 tokens` });
      expect(failure.error).toEqual(tooLong);
      expect(upstream.requestCount).toBe(before + 1);
    }
  });

  test.each([
    { status: 401, code: 'upstream_auth' },
    { status: 403, code: 'upstream_auth' },
    { status: 418, code: 'bad_gateway' },
  ])('gets 502 for $status of the upstream in any case, and tries it once', async (row) => {
    const { status, code } = row;
    upstream.faults.always({ kind: 'status', status, body: { error: tooLong } });
    for (const headers of [{}, asUpstream]) {
      const before = upstream.requestCount;
      const failure = await failureOf(client(headers).chat.completions.create({ model, messages }));
      expect(failure).toBeInstanceOf(InternalServerError);
      expect(failure).toMatchObject({ status: 502, code });
      expect(upstream.requestCount).toBe(before + 1);
    }
  });

  test('recognizes a rate limit of the upstream', async () => {
    const limited = { kind: 'status', status: 429, retryAfterSecs: 9_999 } as const;
    upstream.faults.next({ ...limited, body: { error: { code: 'slow', message: 'slow down' } } });
    const limit = await failureOf(
      client(asUpstream, 0).chat.completions.create({ model, messages }),
    );
    expect(limit).toBeInstanceOf(RateLimitError);
    expect(limit).toMatchObject({ status: 429, code: 'slow' });
    expect(limit.headers?.get('retry-after')).toBe('3600');
    expect(limit.headers?.get('x-should-retry')).toBeNull();
  });

  test.each([500, 503])('recognizes a failure of the upstream: %d', async (status) => {
    upstream.faults.always({ kind: 'status', status, retryAfterSecs: 2 });
    const failure = await failureOf(
      client(asUpstream, 0).chat.completions.create({ model, messages }),
    );
    expect(failure).toBeInstanceOf(InternalServerError);
    expect(failure).toMatchObject({ status: 502, code: 'bad_gateway' });
    expect(failure.headers?.get('retry-after')).toBe('2');
    expect(failure.headers?.get('x-should-retry')).toBeNull();
  });

  test('does not retry what cannot succeed, and learns what the upstream said', async () => {
    upstream.faults.always({ kind: 'status', status: 400, body: { error: tooLong } });
    for (const call of calls) {
      const before = upstream.requestCount;
      const specified = await failureOf(call(client({ 'x-service-errors': 'specified' })));
      expect(specified).toMatchObject({ status: 502, code: 'bad_gateway' });
      expect(specified.error).toMatchObject({
        message: 'upstream 400: at most 8192 tokens',
        param: null,
        upstream: { status: 400, ...tooLong },
      });
      const failure = await failureOf(call(client()));
      expect(failure).toBeInstanceOf(BadRequestError);
      expect(failure.error).toMatchObject(tooLong);
      for (const { headers } of [specified, failure])
        expect(headers?.get('x-should-retry')).toBe('false');
      expect(upstream.requestCount).toBe(before + 2);
    }
  });
});

test.each([
  { upstreamStatus: 500, status: 500, type: 'api_error' },
  { upstreamStatus: 503, status: 529, type: 'overloaded_error' },
  { upstreamStatus: 529, status: 529, type: 'overloaded_error' },
])('a $upstreamStatus of the upstream is a $status of the Messages API', async (row) => {
  upstream.faults.always({ kind: 'status', status: row.upstreamStatus });
  const response = await fetch(`${gateway.url}/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': gateway.key },
    body: JSON.stringify({ model, max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] }),
  });
  expect(response.status).toBe(row.status);
  expect(await response.json()).toMatchObject({ type: 'error', error: { type: row.type } });
});

test('a backend whose key the upstream refuses is Degraded with the reason, and is asked again', async () => {
  const health = async () => {
    const listed: unknown = await (await admin(gateway, 'GET', 'backends')).json();
    return (listed as { backends: { health: { name: string }[] } }).backends.health;
  };
  const refusal = { error: { code: 'invalid_api_key', message: 'Incorrect API key: Hello!' } };
  upstream.faults.next({ kind: 'status', status: 401, body: refusal }, 4);
  for (let count = 0; count < 4; count += 1) {
    const response = await chat();
    expect([response.status, await codeOf(response)]).toEqual([502, 'upstream_auth']);
  }
  expect(await health()).toMatchObject([
    {
      name: `up-${upstreams}`,
      state: 'Degraded',
      reason:
        'the upstream answered 401 (invalid_api_key) to a request; check the api_key of the backend',
      circuit: 'closed',
    },
  ]);
  expect((await chat()).status).toBe(200);
  expect(await health()).toMatchObject([{ state: 'Healthy', reason: null }]);
});

test.each([401, 403])(
  '%d to one request hides the models of the backend from no other',
  async (status) => {
    upstream.faults.next({ kind: 'status', status });
    const refused = await chat();
    expect([refused.status, await codeOf(refused)]).toEqual([502, 'upstream_auth']);
    const listed: unknown = await (await admin(gateway, 'GET', 'backends')).json();
    expect(listed).toMatchObject({ backends: { health: [{ state: 'Degraded' }] } });
    const headers = { authorization: `Bearer ${gateway.key}` };
    const found = await fetch(`${gateway.url}/v1/models/${model}`, { headers });
    expect(await found.json()).toMatchObject({ id: model, owned_by: `up-${upstreams}` });
    expect((await chat()).status).toBe(200);
  },
);

test.each([400, 404])('%d of the upstream leaves the circuit closed', async (status) => {
  upstream.faults.next({ kind: 'status', status }, 4);
  for (let count = 0; count < 4; count += 1) expect((await chat()).status).toBe(502);
  expect((await chat()).status).toBe(200);
});

test.each([{ stream: false }, { stream: true }])(
  'a backend that cannot chat is skipped, with stream: $stream',
  async ({ stream }) => {
    const able = `up-${upstreams}`;
    const backend = { type: 'cloud-video', name: 'unable', url: upstream.url };
    const declared = { models: [model], capabilities: ['chat'] };
    await registerBackend(gateway, { ...backend, ...declared });
    const alone = await chat({ stream, provider: 'unable' });
    expect([alone.status, alone.headers.get('x-should-retry')]).toEqual([500, 'false']);
    expect(await codeOf(alone)).toBe('backend_error');
    for (let count = 0; count < 4; count += 1) {
      const response = await chat({ stream });
      expect(response.headers.get('x-service-backend')).toBe(able);
      await response.text();
    }
  },
);

test('an error answer stays below 16 KB, whatever the upstream says', async () => {
  const quotes = '"'.repeat(50_000);
  const fields = { message: quotes, type: quotes, code: quotes, param: quotes };
  upstream.faults.always({ kind: 'status', status: 400, body: { error: fields } });
  for (const headers of [{}, { 'x-service-errors': 'upstream' }]) {
    const response = await chat({}, headers);
    const text = await response.text();
    expect(Buffer.byteLength(text)).toBeLessThan(16 * 1024);
    expect(text).toContain('"type":"');
  }
});
