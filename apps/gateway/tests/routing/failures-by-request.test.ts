import { backendListSchema } from '@model-gateway/contracts';
import OpenAI from 'openai';
import { admin, registerBackend, startGateway, type GatewayUnderTest } from '../gateway.ts';
import {
  sendJson,
  startRelayUpstream,
  type RelayUpstream,
  type ReceivedRequest,
} from '../relay/relay-upstream.ts';

const CAPABILITIES = ['chat', 'embeddings', 'images', 'rerank'];
const IMAGE = { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } } as const;
/** How often the default client sends a request that fails: once, and twice again. */
const SENT = 3;

let gateway: GatewayUnderTest;
let upstream: RelayUpstream;
/** As most people create it. */
let openai: OpenAI;

/** A server for text: it fails with what it cannot do, and with one text. */
async function answer({ path, body, response }: ReceivedRequest): Promise<void> {
  const text = String(await body);
  const error = { error: { message: 'not supported' } };
  if (path.endsWith('/embeddings')) return sendJson(response, error, 501);
  if (path.endsWith('/rerank')) return sendJson(response, error, 500);
  if (text.includes('cut')) return void response.destroy();
  if (text.includes('image') || text.includes('fail')) return sendJson(response, error, 500);
  if (text.includes('too long')) return sendJson(response, error, 422);
  const message = { role: 'assistant', content: 'Hello' };
  const choices = [{ index: 0, finish_reason: 'stop', message }];
  return sendJson(response, { object: 'chat.completion', model: 'm', created: 1, choices });
}

beforeAll(async () => {
  gateway = await startGateway({ SERVICE_API_RATE_LIMIT_RPM: '100000' });
  upstream = await startRelayUpstream({ models: ['m'] });
  upstream.answer(answer);
  openai = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.key });
});
afterAll(async () => {
  await gateway.test.close();
  await upstream.close();
});

// A registration begins with closed circuits.
beforeEach(async () => {
  const backend = { type: 'external', name: 'text', url: upstream.url };
  await registerBackend(gateway, { ...backend, capabilities: CAPABILITIES });
});

async function circuits() {
  const response = await admin(gateway, 'GET', 'backends');
  const [entry] = backendListSchema.parse(await response.json()).backends.health;
  return [entry?.circuit, entry?.operation_circuits];
}

const chat = (content: string | readonly object[], headers: Record<string, string> = {}) =>
  fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'x-api-key': gateway.key, ...headers },
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content }] }),
  });

async function statuses(...contents: readonly (string | readonly object[])[]) {
  const found: number[] = [];
  for (const content of contents) {
    const response = await chat(content);
    await response.text();
    found.push(response.status);
  }
  return found;
}

test('what the default client asks of a text model takes nothing from others', async () => {
  const before = upstream.calls.length;
  const ask = (content: string | (typeof IMAGE)[]) =>
    openai.chat.completions.create({ model: 'm', messages: [{ role: 'user', content }] });
  const failing = [
    () => ask([IMAGE]),
    () => openai.embeddings.create({ model: 'm', input: 'Hi', encoding_format: 'float' }),
    () => openai.images.generate({ model: 'm', prompt: 'a cat image' }),
    () => ask('fail'),
  ];
  const errors = failing.map((call) => call().catch((error: unknown) => error));
  for (const error of await Promise.all(errors))
    expect(error).toMatchObject({ status: expect.any(Number) });
  expect(upstream.calls.length - before).toBe(failing.length * SENT);
  expect((await ask('Hi')).choices[0]?.message.content).toBe('Hello');
  expect(await circuits()).toEqual(['closed', undefined]);
});

test('three text chats in a row that fail open the circuit, and the refusal says until when', async () => {
  expect(await statuses('fail', 'fail', 'fail')).toEqual([502, 502, 502]);
  expect(await circuits()).toEqual(['open', undefined]);
  const refused = await chat('Hi');
  expect(await refused.json()).toMatchObject({ error: { message: 'all backends unhealthy' } });
  const seconds = Number(refused.headers.get('retry-after'));
  expect(seconds).toBeGreaterThanOrEqual(1);
  expect(seconds).toBeLessThanOrEqual(30);
});

test('an answer between failures ends their row', async () => {
  await statuses('fail', 'too long', 'fail', 'too long', 'fail');
  expect(await statuses('fail', 'Hi', 'fail', 'fail', 'Hi')).toEqual([502, 200, 502, 502, 200]);
  expect(await circuits()).toEqual(['closed', undefined]);
});

test('an operation that fails is refused alone', async () => {
  const rerank = () =>
    fetch(`${gateway.url}/v1/rerank`, {
      method: 'POST',
      headers: { 'x-api-key': gateway.key },
      body: JSON.stringify({ model: 'm', query: 'q', documents: ['d'] }),
    });
  for (let time = 0; time < SENT; time += 1) expect((await rerank()).status).toBe(502);
  const refused = await rerank();
  expect(await refused.json()).toMatchObject({ error: { message: 'all backends unhealthy' } });
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
  expect(await circuits()).toEqual(['closed', { rerank: 'open' }]);
  expect(await statuses('Hi')).toEqual([200]);
});

test('lost connections count each time, whatever was sent', async () => {
  for (const retry of ['0', '1', '2']) {
    const parts = [IMAGE, { type: 'text', text: 'cut' }];
    await (await chat(parts, { 'x-stainless-retry-count': retry })).text();
  }
  expect(await circuits()).toEqual(['open', undefined]);
});

const NAMELESS = { type: 'function', function: { parameters: {} } };
const MESSAGES = [{ role: 'user', content: 'Hi' }];

test.each([
  { path: 'chat/completions', body: { messages: MESSAGES, tools: [NAMELESS] } },
  { path: 'chat/completions', body: { messages: MESSAGES, tools: [{ type: 'function' }] } },
  {
    path: 'chat/completions',
    body: { messages: MESSAGES, tools: [{ type: 'function', function: { name: '' } }] },
  },
  {
    path: 'messages',
    body: { messages: MESSAGES, max_tokens: 9, tools: [{ input_schema: { type: 'object' } }] },
  },
  { path: 'responses', body: { input: 'Hi', tools: [{ type: 'function', parameters: {} }] } },
])('a tool without a name is refused here: $path $body', async ({ path, body }) => {
  const before = upstream.calls.length;
  const response = await fetch(`${gateway.url}/v1/${path}`, {
    method: 'POST',
    headers: { 'x-api-key': gateway.key },
    body: JSON.stringify({ model: 'm', ...body }),
  });
  expect(response.status).toBe(400);
  expect(await response.text()).toContain('tools.0');
  expect(upstream.calls.length).toBe(before);
});
