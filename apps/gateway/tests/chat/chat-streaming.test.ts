import { connect } from 'node:net';
import { waitUntil } from '@model-gateway/testkit';
import { startChatUpstream, type RunningChatUpstream } from '@model-gateway/testkit/upstreams';
import OpenAI from 'openai';
import { registerBackend, startGateway, type GatewayUnderTest } from '../gateway.ts';
import { takeUsage } from '../money/usage-journal.ts';

let gateway: GatewayUnderTest;
let upstream: RunningChatUpstream;
let client: OpenAI;

beforeAll(async () => {
  gateway = await startGateway({ SERVICE_API_RATE_LIMIT_RPM: '100000' });
  upstream = await startChatUpstream({ models: ['demo-chat'] });
  await registerBackend(gateway, { type: 'external', name: 'up', url: upstream.url });
  client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.key, maxRetries: 0 });
});
afterEach(() => upstream.faults.clear());
afterAll(async () => {
  await gateway.test.close();
  await upstream.close();
});

const messages = [{ role: 'user' as const, content: 'Hello!' }];
const usage = (count = 1) => takeUsage(gateway.test.context.bus.journal, count);

function stream(body: object = {}, signal?: AbortSignal): Promise<Response> {
  return fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}` },
    body: JSON.stringify({ model: 'demo-chat', messages, stream: true, ...body }),
    ...(signal === undefined ? {} : { signal }),
  });
}

test('the bytes of the upstream pass through, the end mark is last, and the turn is metered by the usage of the upstream', async () => {
  const response = await stream({ stream_options: { include_usage: true } });
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toContain('text/event-stream');
  expect(response.headers.get('x-service-backend')).toBe('up');
  expect(response.headers.get('x-service-memory')).toBe('disabled');
  const text = await response.text();
  expect(text.endsWith('\n\ndata: [DONE]\n\n')).toBe(true);
  expect(text.match(/\[DONE\]/g)).toHaveLength(1);
  const [event] = await usage();
  const served = upstream.served.at(-1);
  expect(event).toMatchObject({
    model: 'demo-chat',
    backend: 'gateway',
    prompt_tokens: served?.promptTokens,
    completion_tokens: served?.completionTokens,
    upstream: 'up',
    status: 200,
  });
  expect(event?.first_token_ms).toBeGreaterThanOrEqual(0);
  expect(event?.latency_ms).toBeGreaterThanOrEqual(event?.first_token_ms ?? Infinity);
});

test('only a client that requests the usage gets the usage chunk', async () => {
  const without = await (await stream()).text();
  expect(without).not.toContain('"usage"');
  const withUsage = await (await stream({ stream_options: { include_usage: true } })).text();
  expect(withUsage).toContain('"usage":{');
  await usage(2);
  expect(upstream.requests.at(-2)?.body).toMatchObject({ stream_options: { include_usage: true } });
});

test('the official client streams text, tool calls over several deltas, and usage', async () => {
  const text = await client.chat.completions.create({ model: 'demo-chat', messages, stream: true });
  let said = '';
  for await (const chunk of text) said += chunk.choices[0]?.delta.content ?? '';
  expect(said).toContain('Hello!');

  const tools = [
    {
      type: 'function' as const,
      function: {
        name: 'get_weather',
        parameters: {
          type: 'object',
          properties: { city: { type: 'string' }, unit: { type: 'string' } },
        },
      },
    },
  ];
  const calls = await client.chat.completions.create({
    model: 'demo-chat',
    messages: [{ role: 'user', content: 'call get_weather {"city":"Paris","unit":"celsius"}' }],
    tools,
    stream: true,
    stream_options: { include_usage: true },
  });
  let name = '';
  let text_ = '';
  let deltas = 0;
  let total: number | undefined;
  for await (const chunk of calls) {
    const call = chunk.choices[0]?.delta.tool_calls?.[0];
    name += call?.function?.name ?? '';
    text_ += call?.function?.arguments ?? '';
    if (call?.function?.arguments) deltas += 1;
    total = chunk.usage?.total_tokens ?? total;
  }
  expect(name).toBe('get_weather');
  expect(JSON.parse(text_)).toEqual(expect.any(Object));
  expect(deltas).toBeGreaterThan(1);
  expect(total).toBeGreaterThan(0);
  await usage(2);
});

test('a client that disconnects aborts the upstream before its response is complete, and the streamed part is metered', async () => {
  // So slow that the response would take half a minute.
  upstream.faults.next({ kind: 'slow-chunks', delayMs: 1_000 });
  const before = upstream.aborted;
  const hangUp = new AbortController();
  const response = await stream({}, hangUp.signal);
  const reader = response.body?.getReader();
  await reader?.read();
  await reader?.read();
  hangUp.abort();
  await upstream.until(() => upstream.aborted > before);
  const [event] = await usage();
  expect(event?.completion_tokens).toBeGreaterThan(0);
  expect(event?.completion_tokens).toBeLessThan(30);
});

test('a client that disconnects during a call without streaming aborts the upstream too', async () => {
  upstream.faults.next({ kind: 'slow-start', delayMs: 5_000 });
  const before = upstream.aborted;
  const requestsBefore = upstream.requestCount;
  const hangUp = new AbortController();
  const call = stream({ stream: false }, hangUp.signal).catch(() => 'disconnected');
  await upstream.until(() => upstream.requestCount > requestsBefore);
  hangUp.abort();
  expect(await call).toBe('disconnected');
  await upstream.until(() => upstream.aborted > before);
});

test('an upstream that is faster than the client waits for it', async () => {
  upstream.faults.next({ kind: 'huge-chunk', bytes: 8 * 1024 * 1024 });
  const { port } = new URL(gateway.url);
  const body = JSON.stringify({ model: 'demo-chat', messages, stream: true });
  const slow = connect(Number(port), '127.0.0.1');
  slow.write(
    `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${gateway.key}\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
  await new Promise((resolve) => {
    slow.once('readable', resolve);
  });
  let size = 0;
  slow.on('data', (chunk: Buffer) => {
    size += chunk.length;
  });
  await waitUntil(() => size > 8 * 1024 * 1024, { what: 'the whole response' });
  slow.destroy();
  await usage();
});

test('without usage from the upstream the turn is estimated over the whole text', async () => {
  upstream.faults.next({ kind: 'no-usage' });
  const text = await (await stream()).text();
  const said = [...text.matchAll(/"content":("(?:[^"\\]|\\.)*")/g)]
    .map(([, json]) => JSON.parse(json ?? '""') as string)
    .join('');
  const [event] = await usage();
  expect(event?.completion_tokens).toBe(Math.ceil(Array.from(said).length / 4));
  expect(event?.prompt_tokens).toBe(2);
});

test('a client that requests the usage gets the billed estimate, where the upstream reports none', async () => {
  upstream.faults.next({ kind: 'no-usage' });
  const body = { model: 'demo-chat', messages, stream_options: { include_usage: true } };
  const chunks = [];
  for await (const chunk of await client.chat.completions.create({ ...body, stream: true })) {
    chunks.push(chunk);
  }
  const last = chunks.at(-1);
  const [event] = await usage();
  expect(last).toMatchObject({ object: 'chat.completion.chunk', model: 'demo-chat', choices: [] });
  expect(last?.usage).toEqual({
    prompt_tokens: event?.prompt_tokens,
    completion_tokens: event?.completion_tokens,
    total_tokens: event?.total_tokens,
  });
  expect(last?.usage?.completion_tokens).toBeGreaterThan(0);
});

test('a stream with neither text nor usage is not recorded', async () => {
  upstream.faults.always({ kind: 'no-tokens' });
  upstream.faults.always({ kind: 'no-usage' });
  await (await stream()).text();
  upstream.faults.clear();
  await (await stream({ stream: false })).text();
  expect(await usage()).toHaveLength(1);
});
