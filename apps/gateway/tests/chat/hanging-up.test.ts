import { request } from 'node:http';
import { newId } from '@model-gateway/kernel';
import {
  startChatUpstream,
  startEngine,
  startOllamaServer,
  type RunningChatUpstream,
  type RunningEngine,
  type RunningOllamaServer,
} from '@model-gateway/testkit/upstreams';
import { registerBackend, startGateway, type GatewayUnderTest } from '../gateway.ts';
import { startScriptedUpstream, type ScriptedUpstream } from './scripted-upstream.ts';
import { loggedAs } from '../logged-requests.ts';
import { takeUsage } from '../money/usage-journal.ts';

let gateway: GatewayUnderTest;
let upstream: RunningChatUpstream;
let scripted: ScriptedUpstream;
let ollama: RunningOllamaServer;
let engine: RunningEngine;

beforeAll(async () => {
  gateway = await startGateway({
    SERVICE_API_RATE_LIMIT_RPM: '100000',
    SERVICE_BREAKER_FAILURES: '1000',
  });
  upstream = await startChatUpstream({ models: ['demo-chat', 'demo-embed', 'marker', 'twin'] });
  scripted = await startScriptedUpstream();
  ollama = await startOllamaServer({ models: ['local'] });
  engine = await startEngine({ models: ['robot'] });
  const register = (name: string, type: string, url: string) =>
    registerBackend(gateway, { name, type, url });
  await register('up', 'external', upstream.url);
  await register('scripted', 'external', scripted.url);
  await register('ollama', 'local-server', ollama.url);
  await register('engine', 'engine', engine.url);
});
afterEach(() => {
  for (const { faults } of [upstream, ollama, engine]) faults.clear();
});
afterAll(async () => {
  await gateway.test.close();
  await Promise.all([upstream, scripted, ollama, engine].map((server) => server.close()));
});

const messages = [{ role: 'user', content: 'Hello!' }];

function post(path: string, body: object, signal?: AbortSignal): Promise<Response> {
  return fetch(`${gateway.url}/v1/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}` },
    body: JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  });
}
const chat = (body: object, signal?: AbortSignal) =>
  post('chat/completions', { model: 'demo-chat', messages, ...body }, signal);

/** The next rows, and those before the row of one more request: a second row of the same request would be among them. */
async function rows(count = 1) {
  await (await chat({ model: 'marker' })).text();
  const events = await takeUsage(gateway.test.context.bus.journal, count + 1);
  return events.filter(({ model }) => model !== 'marker');
}

/** Sends a request and leaves as soon as its upstream has it. */
async function leave(path: string, body: object, hasArrived: () => Promise<unknown>) {
  const hangUp = new AbortController();
  const call = post(path, body, hangUp.signal).then(
    () => 'answered',
    () => 'left',
  );
  await hasArrived();
  hangUp.abort();
  expect(await call).toBe('left');
}

/** Leaves a request that the chat upstream keeps. */
async function leaveUpstream(body: object, path = 'chat/completions'): Promise<void> {
  upstream.faults.next({ kind: 'hang' });
  const { requestCount, aborted } = upstream;
  await leave(path, { model: 'demo-chat', messages, ...body }, () =>
    upstream.until(() => upstream.requestCount > requestCount),
  );
  await upstream.until(() => upstream.aborted > aborted);
}

/** Waits for one row. */
const nextRow = async () => (await takeUsage(gateway.test.context.bus.journal, 1))[0];

describe('every delta counts when a client leaves a stream', () => {
  const said = 'exactly twenty chars';
  test.each([
    { delta: { content: said } },
    { delta: { content: null, reasoning_content: said } },
    { delta: { content: '', reasoning: said } },
    { delta: { reasoning: said, reasoning_content: said } },
    { delta: { refusal: said } },
    {
      delta: {
        tool_calls: [{ index: 0, function: { name: 'exactly ', arguments: 'twenty chars' } }],
      },
      // The name of a call is sent once, however often an upstream repeats it.
      tokens: 8,
    },
    { delta: { function_call: { name: 'exactly ', arguments: 'twenty chars' } } },
    { delta: { audio: { id: 'a', transcript: said } } },
    { delta: { content: [{ type: 'text', text: said }] } },
  ])('$delta', async ({ delta, tokens = 10 }) => {
    const chunk = (fields: object) => ({
      id: 'x',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'scripted',
      choices: [{ index: 0, delta: fields, finish_reason: null }],
    });
    scripted.setEvents([chunk({ role: 'assistant', content: '' }), chunk(delta), chunk(delta)]);
    const hangUp = new AbortController();
    const response = await chat({ model: 'scripted', stream: true }, hangUp.signal);
    let received = '';
    const decoder = new TextDecoder();
    for await (const part of response.body ?? []) {
      received += decoder.decode(part as Uint8Array, { stream: true });
      if (received.split('\n\n').length > 3) break;
    }
    hangUp.abort();
    expect(await nextRow()).toMatchObject({
      model: 'scripted',
      prompt_tokens: 2,
      completion_tokens: tokens,
    });
  });

  test('also where the upstream has reported only zeros, or less than it sent', async () => {
    const chunk = (content: string, usage?: object) => ({
      id: 'x',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'scripted',
      choices: [{ index: 0, delta: { content }, finish_reason: null }],
      usage: usage ?? null,
    });
    const zeros = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };
    const some = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 };
    for (const { usage, expected } of [
      { usage: zeros, expected: { prompt_tokens: 2, completion_tokens: 3 } },
      { usage: some, expected: { prompt_tokens: 7, completion_tokens: 5 } },
      // Never more than the prompt, whatever an upstream reports.
      {
        usage: { ...some, prompt_tokens_details: { cached_tokens: 4 } },
        expected: { cached_tokens: 4 },
      },
      { usage: { ...some, prompt_cache_hit_tokens: 40 }, expected: { cached_tokens: 7 } },
    ]) {
      scripted.setEvents([chunk('abcd', usage), chunk('abcd'), chunk('efgh')]);
      const hangUp = new AbortController();
      const response = await chat({ model: 'scripted', stream: true }, hangUp.signal);
      let received = '';
      for await (const part of response.body ?? []) {
        received += Buffer.from(part as Uint8Array).toString();
        if (received.includes('efgh')) break;
      }
      hangUp.abort();
      expect(await nextRow()).toMatchObject({ ...expected, upstream: 'scripted', status: 499 });
    }
  });
});

describe('once an upstream has the prompt, it is metered', () => {
  const image = (detail?: string) => ({
    type: 'image_url',
    image_url: { url: 'data:image/png;base64,AA==', ...(detail === undefined ? {} : { detail }) },
  });
  const withParts = (...parts: object[]) => ({
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello!' }, ...parts] }],
  });
  const tools = [{ type: 'function', function: { name: 'look' } }];
  const functions = [{ name: 'look' }];
  const response_format = { type: 'json_object' };
  const tokensOf = (value: object) => Math.ceil(JSON.stringify(value).length / 4);

  test.each([
    { what: 'its text', body: {}, tokens: 2 },
    { what: 'tools', body: { tools }, tokens: 2 + tokensOf(tools) },
    { what: 'functions', body: { functions }, tokens: 2 + tokensOf(functions) },
    { what: 'functions in extra', body: { extra: { functions } }, tokens: 2 + tokensOf(functions) },
    {
      what: 'a response format',
      body: { response_format },
      tokens: 2 + tokensOf(response_format),
    },
    { what: 'an image of low detail', body: withParts(image('low')), tokens: 2 + 85 },
    { what: 'other images', body: withParts(image('high'), image()), tokens: 2 + 2 * 765 },
    {
      what: 'images beside the content',
      body: { messages: [{ role: 'user', content: 'Hello!', images: ['AA=='] }] },
      tokens: 2 + 765,
    },
    {
      what: 'earlier tool calls',
      body: {
        messages: [
          ...messages,
          {
            role: 'assistant',
            tool_calls: [{ id: '1', function: { name: 'f', arguments: '{}' } }],
          },
        ],
      },
      tokens: 3,
    },
  ])('with $what', async ({ body, tokens }) => {
    await leaveUpstream(body);
    expect(await rows()).toMatchObject([
      { model: 'demo-chat', backend: 'gateway', prompt_tokens: tokens, completion_tokens: 0 },
    ]);
  });

  test('when the client leaves a stream before its first chunk', async () => {
    await leaveUpstream({ stream: true });
    expect(await rows()).toMatchObject([{ prompt_tokens: 2, completion_tokens: 0 }]);
  });

  test('when the client leaves a stream that has begun without text', async () => {
    upstream.faults.next({ kind: 'stall', afterChunks: 1 });
    const hangUp = new AbortController();
    const response = await chat({ stream: true }, hangUp.signal);
    await response.body?.getReader().read();
    const { aborted } = upstream;
    hangUp.abort();
    await upstream.until(() => upstream.aborted > aborted);
    expect(await nextRow()).toMatchObject({ prompt_tokens: 2, completion_tokens: 0 });
  });

  test('when the client leaves a request for embeddings', async () => {
    await leaveUpstream({ model: 'demo-embed', input: ['Hello!', 'abcd'] }, 'embeddings');
    expect(await rows()).toMatchObject([
      { model: 'demo-embed', prompt_tokens: 3, completion_tokens: 0 },
    ]);
  });

  test.each([{ stream: false }, { stream: true }])(
    'at a local server and at an engine, with stream: $stream',
    async ({ stream }) => {
      ollama.faults.next({ kind: 'hang' });
      const { requestCount } = ollama;
      await leave('chat/completions', { model: 'local', messages, stream }, () =>
        ollama.until(() => ollama.requestCount > requestCount),
      );
      expect(await rows()).toMatchObject([{ model: 'local', prompt_tokens: 2 }]);

      const method = stream ? 'Engine.ChatStart' : 'Engine.Chat';
      engine.faults.next({ kind: 'silent' }, 1, method);
      const calls = engine.callsOf(method);
      await leave('chat/completions', { model: 'robot', messages, stream }, () =>
        engine.until(() => engine.callsOf(method) > calls),
      );
      expect(await rows()).toMatchObject([{ model: 'robot', prompt_tokens: 2 }]);
    },
  );

  test('once, by the backend that the client left, after another had failed', async () => {
    const other = await startChatUpstream({ models: ['twin'] });
    await registerBackend(gateway, { type: 'external', name: 'other', url: other.url });
    for (const server of [upstream, other]) {
      const rest = server === upstream ? other : upstream;
      server.faults.always({ kind: 'status', status: 503 });
      rest.faults.always({ kind: 'hang' });
      const { requestCount } = rest;
      await leave('chat/completions', { model: 'twin', messages }, () =>
        rest.until(() => rest.requestCount > requestCount),
      );
      for (const { faults } of [server, rest]) faults.clear();
      expect(await rows()).toMatchObject([{ prompt_tokens: 2, completion_tokens: 0 }]);
    }
    await other.close();
  });
});

describe('what is not metered besides', () => {
  test('a request that is answered has one row, with the usage of the upstream', async () => {
    await (await chat({ tools: [{ type: 'function', function: { name: 'look' } }] })).text();
    const served = upstream.served.at(-1);
    expect(await rows()).toMatchObject([
      { prompt_tokens: served?.promptTokens, completion_tokens: served?.completionTokens },
    ]);
  });

  test('a request that the upstream refuses or fails has none', async () => {
    upstream.faults.next({ kind: 'status', status: 400 });
    expect((await chat({})).status).toBe(502);
    upstream.faults.next({ kind: 'reset' });
    expect((await chat({})).status).toBe(502);
    upstream.faults.next({ kind: 'reset' });
    expect((await chat({ stream: true })).status).toBe(502);
    expect(await rows(0)).toEqual([]);
  });
});

test.each([
  { path: 'chat/completions', type: 'application/json', begin: '{"model":"demo-chat",' },
  {
    path: 'audio/transcriptions',
    type: 'multipart/form-data; boundary=b',
    begin:
      '--b\r\ncontent-disposition: form-data; name="file"; filename="a.mp3"\r\n\r\nthe first half',
  },
])('a client of $path that leaves while it sends is logged as one that left', async (row) => {
  const requestId = newId();
  const client = request(`${gateway.url}/v1/${row.path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${gateway.key}`,
      'content-type': row.type,
      'x-request-id': requestId,
    },
  });
  client.on('error', () => undefined);
  await new Promise<void>((resolve) => client.write(row.begin, () => resolve()));
  client.destroy();
  expect(await loggedAs(gateway.test.context, requestId)).toMatchObject({
    status: 499,
    errorCode: 'client_left',
  });
});
