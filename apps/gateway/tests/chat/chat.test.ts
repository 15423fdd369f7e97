import type { UsageEvent } from '@model-gateway/contracts';
import { usageEventsIn } from '@model-gateway/testkit';
import { startChatUpstream, type RunningChatUpstream } from '@model-gateway/testkit/upstreams';
import OpenAI from 'openai';
import { keysOf, registerBackend, startGateway, type GatewayUnderTest } from '../gateway.ts';

let gateway: GatewayUnderTest;
let upstream: RunningChatUpstream;

beforeAll(async () => {
  gateway = await startGateway();
  upstream = await startChatUpstream({ models: ['demo-chat', 'tagged:latest'] });
  await registerBackend(gateway, { type: 'external', name: 'up', url: upstream.url });
});
afterEach(() => upstream.faults.clear());
afterAll(async () => {
  await gateway.test.close();
  await upstream.close();
});

const hello = { model: 'demo-chat', messages: [{ role: 'user', content: 'Hello!' }] };

function chat(body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  return fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${gateway.key}`,
      ...headers,
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

/** The current events in the journal. */
async function journaled(): Promise<readonly UsageEvent[]> {
  const events: UsageEvent[] = [];
  const enough = new AbortController();
  const record = async (batch: readonly { readonly body: string }[]) => {
    events.push(...usageEventsIn(batch));
    if (events.length > 0) enough.abort();
  };
  await gateway.test.context.bus.journal.drain(record, { batchSize: 100, signal: enough.signal });
  return events;
}

test('a chat turn is served by the upstream and its usage event is in the journal before the response ends', async () => {
  const response = await chat(hello, { 'x-service-ref': 'invoice-7', 'x-request-id': 'my-id' });
  expect(response.status).toBe(200);
  expect(response.headers.get('x-service-backend')).toBe('up');
  expect(response.headers.get('x-request-id')).toBe('my-id');
  const completion = (await response.json()) as { usage: { total_tokens: number } };
  expect(completion).toMatchObject({ object: 'chat.completion', model: 'demo-chat' });
  const events = await journaled();
  expect(events).toHaveLength(1);
  expect(events[0]).toMatchObject({
    user_id: gateway.userId,
    key_id: gateway.keyId,
    api_key_id: 'service-',
    project: 'default',
    model: 'demo-chat',
    backend: 'gateway',
    total_tokens: completion.usage.total_tokens,
    cost: null,
    ref_id: 'invoice-7',
    upstream: 'up',
    status: 200,
    latency_ms: expect.any(Number) as number,
    first_token_ms: null,
    cached_tokens: 0,
  });
});

test('the official client works unchanged', async () => {
  const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.key, maxRetries: 0 });
  const completion = await client.chat.completions.create({
    model: 'demo-chat',
    messages: [{ role: 'user', content: 'Hello!' }],
  });
  expect(completion.choices[0]?.message.content).toContain('Hello!');
});

test('a bare name is served by its :latest listing, and fields of the gateway do not reach the upstream', async () => {
  const response = await chat({
    ...hello,
    model: 'tagged',
    provider: 'UP',
    memory: false,
    top_p: 0.5,
    seed: 7,
  });
  expect(response.status).toBe(200);
  const sent = upstream.requests.at(-1)?.body;
  expect(sent).toMatchObject({ model: 'tagged:latest', top_p: 0.5, seed: 7 });
  expect(sent).not.toHaveProperty('provider');
  expect(sent).not.toHaveProperty('memory');
});

test.each([
  {
    why: 'no key',
    headers: { authorization: '' },
    body: 'Missing Authorization header. Use: Bearer <api_key>',
  },
  {
    why: 'an unknown key',
    headers: { authorization: `Bearer service-${crypto.randomUUID()}` },
    body: 'Invalid API key',
  },
  {
    why: 'a value that is not a key',
    headers: { authorization: 'Bearer hello' },
    body: 'Invalid API key',
  },
])('$why is refused in plain text', async ({ headers, body }) => {
  const response = await chat(hello, headers);
  expect(response.status).toBe(401);
  expect(response.headers.get('content-type')).toContain('text/plain');
  expect(await response.text()).toBe(body);
});

/** The field that the message names. */
const NAMED: unknown = expect.any(String);

test.each([
  { why: 'bad JSON', body: '{', status: 400, type: 'invalid_request', code: 'invalid_json' },
  {
    why: 'no model',
    body: { messages: hello.messages },
    status: 400,
    type: 'invalid_request',
    code: 'missing_fields',
  },
  {
    why: 'no messages',
    body: { ...hello, messages: [] },
    status: 400,
    type: 'invalid_request',
    code: 'missing_fields',
  },
  {
    why: 'tools that are not a list',
    body: { ...hello, tools: {} },
    status: 400,
    type: 'invalid_request',
    code: 'missing_fields',
  },
  {
    why: 'images that are not a list',
    body: { ...hello, messages: [{ role: 'user', content: 'Look!', images: 'AA==' }] },
    status: 400,
    type: 'invalid_request',
    code: 'missing_fields',
  },
  {
    why: 'a body too large',
    body: { ...hello, x: 'x'.repeat(10_000) },
    status: 413,
    type: 'invalid_request',
    code: 'request_too_large',
  },
  {
    why: 'an unknown model',
    body: { ...hello, model: 'missing' },
    status: 404,
    type: 'invalid_request_error',
    code: 'model_not_found',
  },
  {
    why: 'an unknown provider',
    body: { ...hello, provider: 'missing' },
    status: 404,
    type: 'invalid_request_error',
    code: 'model_not_found',
  },
])('$why is refused with $status $code', async ({ body, status, type, code }) => {
  const response = await chat(body);
  expect(response.status).toBe(status);
  expect(await response.json()).toMatchObject({
    error: {
      type,
      code,
      param: code === 'missing_fields' ? NAMED : null,
      message: expect.any(String),
    },
  });
});

test('a reference of more than 64 characters is refused', async () => {
  const response = await chat(hello, { 'x-service-ref': 'x'.repeat(65) });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error: { code: 'bad_ref' } });
});

test('an upstream failure is reported with its status and message', async () => {
  upstream.faults.next({
    kind: 'status',
    status: 503,
    body: { error: { message: 'come back later' } },
  });
  const response = await chat(hello);
  expect(response.status).toBe(502);
  expect(await response.json()).toMatchObject({
    error: { type: 'server_error', code: 'bad_gateway', message: 'upstream 503: come back later' },
  });
});

test('another method is refused, and the allowed one is named', async () => {
  const response = await fetch(`${gateway.url}/v1/chat/completions`);
  expect(response.status).toBe(405);
  expect(response.headers.get('allow')).toBe('POST');
});

test('a revoked key is refused on the very next request', async () => {
  const keys = keysOf(gateway.test);
  const { key, secret } = await keys.create({ userId: gateway.userId, name: 'short-lived' });
  const headers = { authorization: `Bearer ${secret}` };
  expect((await chat(hello, headers)).status).toBe(200);
  await keys.revoke(gateway.userId, key.id);
  const refused = await chat(hello, headers);
  expect([refused.status, await refused.text()]).toEqual([401, 'Invalid API key']);
});
