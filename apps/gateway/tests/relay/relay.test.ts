import { createAccountEvents } from '@model-gateway/accounts';
import { readStream } from '@model-gateway/testkit';
import OpenAI, { BadRequestError } from 'openai';
import { admin, registerBackend, startGateway, type GatewayUnderTest } from '../gateway.ts';
import { choice, completion, RELAY_CASES, usage } from './relay-cases.ts';
import {
  sendEvents,
  sendJson,
  startRelayUpstream,
  type RelayUpstream,
  type ReceivedRequest,
} from './relay-upstream.ts';
import { takeUsage } from '../money/usage-journal.ts';

const CAPABILITIES = ['completions', 'rerank', 'moderations', 'images', 'speech'];

let gateway: GatewayUnderTest;
let upstream: RelayUpstream;
let openai: OpenAI;

beforeAll(async () => {
  gateway = await startGateway({
    SERVICE_API_RATE_LIMIT_RPM: '100000',
    SERVICE_BREAKER_FAILURES: '1000',
  });
  upstream = await startRelayUpstream({ models: ['tool:latest', 'omni-moderation-latest'] });
  await register('up', { url: upstream.url, capabilities: CAPABILITIES });
  await admin(gateway, 'POST', 'aliases', { alias: 'my-tool', target: 'tool' });
  openai = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.key, maxRetries: 0 });
});
afterAll(async () => {
  await gateway.test.close();
  await upstream.close();
});

async function register(name: string, backend: object): Promise<void> {
  const response = await registerBackend(gateway, { type: 'external', name, ...backend });
  expect(response.status).toBe(200);
}

function post(path: string, body: object, init: RequestInit = {}): Promise<Response> {
  return fetch(`${gateway.url}/v1/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'x-service-ref': 'job-1' },
    body: JSON.stringify(body),
    ...init,
  });
}

const nextRow = async () => (await takeUsage(gateway.test.context.bus.journal, 1))[0];

/** The rows so far: an answered request comes after all others. */
async function rowsNow() {
  upstream.answer(({ response }) => sendJson(response, { results: [] }));
  await (await post('rerank', { model: 'tool', query: '', documents: ['marker'] })).text();
  const rows = [];
  for (;;) {
    const more = await takeUsage(gateway.test.context.bus.journal, 1);
    rows.push(...more);
    if (more.some(({ prompt_tokens: tokens }) => tokens === 2)) return rows.slice(0, -1);
  }
}

const sentTo = async (call: ReceivedRequest | undefined): Promise<unknown> =>
  JSON.parse(String(await call?.body));

describe('a JSON request passes to a backend with the capability, and is metered once', () => {
  const ownFields = { provider: 'up', models: ['omni-moderation-latest'] };
  test.each(RELAY_CASES)('$path $metered', async ({ path, body, answer, metered }) => {
    upstream.answer(({ response }) => sendJson(response, answer));
    const response = await post(path, { model: 'my-tool', ...body, ...ownFields });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(response.headers.get('x-service-backend')).toBe('up');
    expect(response.headers.get('x-ratelimit-limit-requests')).toBe('100000');
    expect(await response.json()).toEqual(answer);
    const call = upstream.calls.at(-1);
    expect(call?.path).toBe(`/v1/${path}`);
    expect(await sentTo(call)).toEqual({ model: 'tool:latest', ...body });
    expect(await rowsNow()).toMatchObject([
      {
        ...metered,
        user_id: gateway.userId,
        model: 'tool:latest',
        upstream: 'up',
        backend: 'gateway',
        ref_id: 'job-1',
        status: 200,
      },
    ]);
  });
});

describe('the official client', () => {
  test('gets a text completion', async () => {
    upstream.answer(({ response }) => sendJson(response, completion([choice('Hi', 'stop')])));
    const answer = await openai.completions.create({ model: 'tool', prompt: 'Hello!' });
    expect(answer.choices[0]?.text).toBe('Hi');
    expect(await nextRow()).toMatchObject({ prompt_tokens: 2, completion_tokens: 1 });
  });

  test.each([
    { what: 'hides the usage', include_usage: undefined, received: ['Hel', 'lo'] },
    {
      what: 'shows the usage that was asked for',
      include_usage: true,
      received: ['Hel', 'lo', 12],
    },
  ])('streams a text completion, which $what', async ({ include_usage, received }) => {
    upstream.answer(({ response }) =>
      sendEvents(response, [
        completion([choice('Hel')]),
        completion([choice('lo', 'stop')]),
        completion([], { usage }),
        '[DONE]',
      ]),
    );
    const stream = await openai.completions.create({
      model: 'tool',
      prompt: 'Hello!',
      stream: true,
      ...(include_usage === undefined ? {} : { stream_options: { include_usage } }),
    });
    const seen: unknown[] = [];
    for await (const chunk of stream)
      seen.push(chunk.choices[0]?.text ?? chunk.usage?.total_tokens);
    expect(seen).toEqual(received);
    expect(await sentTo(upstream.calls.at(-1))).toMatchObject({
      stream: true,
      stream_options: { include_usage: true },
    });
    expect(await nextRow()).toMatchObject({
      prompt_tokens: 5,
      completion_tokens: 7,
      first_token_ms: expect.any(Number) as number,
    });
  });

  test('gets the billed estimate as usage where the upstream reports none', async () => {
    upstream.answer(({ response }) =>
      sendEvents(response, [completion([choice('abcdefgh', 'stop')]), '[DONE]']),
    );
    const stream = await openai.completions.create({
      model: 'tool',
      prompt: 'Hello!',
      stream: true,
      stream_options: { include_usage: true },
    });
    const usages: unknown[] = [];
    for await (const chunk of stream) if (chunk.usage) usages.push(chunk.usage);
    expect(usages).toEqual([{ prompt_tokens: 2, completion_tokens: 2, total_tokens: 4 }]);
    expect(await nextRow()).toMatchObject({ prompt_tokens: 2, completion_tokens: 2 });
  });

  test('gets a stream from an upstream that ignores `stream`', async () => {
    upstream.answer(({ response }) => sendJson(response, completion([choice('Hi', 'stop')])));
    const request = { model: 'tool', prompt: 'Hello!', stream: true } as const;
    const texts: unknown[] = [];
    for await (const chunk of await openai.completions.create(request))
      texts.push(chunk.choices[0]?.text);
    expect(texts).toEqual(['Hi']);
    expect(await nextRow()).toMatchObject({ completion_tokens: 1 });
  });

  test('moderates without a model, which is then the default of the API', async () => {
    const results = [{ flagged: true, categories: {}, category_scores: {} }];
    upstream.answer(({ response }) => sendJson(response, { id: 'm', model: 'o', results }));
    const answer = await openai.moderations.create({ input: ['abcd', 'efgh'] });
    expect(answer.results[0]?.flagged).toBe(true);
    expect(await nextRow()).toMatchObject({ model: 'omni-moderation-latest', prompt_tokens: 2 });
  });

  test('generates images, also as events', async () => {
    upstream.answer(({ response }) => sendJson(response, { data: [{ url: 'https://x/1.png' }] }));
    const whole = await openai.images.generate({ model: 'tool', prompt: 'a cat' });
    expect(whole.data?.[0]?.url).toBe('https://x/1.png');
    expect(await nextRow()).toMatchObject({ total_tokens: 0, status: 200 });
    const counts = { input_tokens: 3, output_tokens: 4, total_tokens: 7 };
    upstream.answer(({ response }) =>
      sendEvents(response, [
        { type: 'image_generation.partial_image', b64_json: 'A'.repeat(100_000) },
        { type: 'image_generation.completed', b64_json: 'A'.repeat(100_000), usage: counts },
      ]),
    );
    const types: string[] = [];
    const request = { model: 'tool', prompt: 'a cat', stream: true } as const;
    for await (const event of await openai.images.generate(request)) types.push(event.type);
    expect(types).toEqual(['image_generation.partial_image', 'image_generation.completed']);
    expect(await nextRow()).toMatchObject({ prompt_tokens: 3, completion_tokens: 4 });
  });

  test('gets speech as it is generated', async () => {
    upstream.answer(({ response }) => {
      response.writeHead(200, { 'content-type': 'audio/mpeg' });
      response.write('first');
    });
    const input = 'Say this.';
    const speech = await openai.audio.speech.create({ model: 'tool', voice: 'alloy', input });
    expect(speech.headers.get('content-type')).toBe('audio/mpeg');
    const parts: string[] = [];
    for await (const part of speech.body ?? []) {
      parts.push(Buffer.from(part as Uint8Array).toString());
      // The upstream goes on when the client has the first part.
      if (parts.length === 1) upstream.calls.at(-1)?.response.end('second');
    }
    expect(parts.join('')).toBe('firstsecond');
    expect(await sentTo(upstream.calls.at(-1))).toMatchObject({ voice: 'alloy' });
    expect(await nextRow()).toMatchObject({ prompt_tokens: 3, completion_tokens: 0, status: 200 });
  });

  test('gets the errors of the upstream as they are, and a refused key as trouble of the operator', async () => {
    const error = { message: 'too long', type: 'invalid_request_error', code: 'x', param: 'input' };
    upstream.answer(({ response }) => sendJson(response, { error }, 400));
    const call = openai.audio.speech.create({ model: 'tool', voice: 'alloy', input: 'Hi' });
    const thrown: unknown = await call.catch((reason: unknown) => reason);
    expect(thrown).toBeInstanceOf(BadRequestError);
    expect(thrown).toMatchObject({ code: 'x', param: 'input', message: '400 too long' });
    upstream.answer(({ response }) => sendJson(response, { error: { message: 'no' } }, 500));
    expect((await post('rerank', { model: 'tool', query: '', documents: [''] })).status).toBe(502);
    upstream.answer(({ response }) => sendJson(response, { error: { message: 'no' } }, 401));
    const refused = await post('rerank', { model: 'tool', query: '', documents: [''] });
    expect(refused.status).toBe(502);
    expect(await refused.json()).toMatchObject({ error: { code: 'upstream_auth' } });
    expect(await rowsNow()).toEqual([]);
  });
});

describe('a client that leaves', () => {
  test.each([
    {
      path: 'completions',
      body: { prompt: 'Hello!', stream: true },
      begin: (call: ReceivedRequest) =>
        sendEvents(call.response, [completion([choice('abcdefgh')])], false),
      metered: { prompt_tokens: 2, completion_tokens: 2 },
    },
    {
      path: 'audio/speech',
      body: { input: 'Say this.' },
      begin: ({ response }: ReceivedRequest) => {
        response.writeHead(200, { 'content-type': 'audio/mpeg' });
        response.write('first');
      },
      metered: { prompt_tokens: 3, completion_tokens: 0 },
    },
    {
      path: 'images/generations',
      body: { prompt: 'a grey cat', n: 2 },
      begin: () => undefined,
      metered: { prompt_tokens: 3, completion_tokens: 0, images: 2 },
    },
    {
      path: 'images/generations',
      body: { prompt: 'a grey cat', stream: true },
      begin: (call: ReceivedRequest) =>
        sendEvents(call.response, [{ type: 'image_generation.partial_image' }], false),
      metered: { prompt_tokens: 3, completion_tokens: 0, images: 1 },
    },
    {
      path: 'rerank',
      body: { query: 'abcd', documents: ['abcd'] },
      begin: () => undefined,
      metered: { prompt_tokens: 2, completion_tokens: 0 },
    },
  ])('ends the call of $path, which is metered', async ({ path, body, begin, metered }) => {
    upstream.answer(begin);
    const count = upstream.calls.length;
    const hangUp = new AbortController();
    const asked = post(path, { model: 'tool', ...body }, { signal: hangUp.signal });
    const left = asked.then((response) => response.body?.getReader().read());
    await upstream.until(() => upstream.calls.length > count);
    const call = upstream.calls.at(-1);
    if (call?.response.headersSent === true) await left;
    hangUp.abort();
    await left.catch(() => undefined);
    await upstream.until(() => call?.isAborted === true);
    expect(await nextRow()).toMatchObject({ ...metered, model: 'tool:latest', status: 499 });
  });
});

test('an answer that the upstream breaks off does not look complete, and is metered', async () => {
  upstream.answer(({ response }) => {
    response.writeHead(200, { 'content-type': 'audio/mpeg' });
    response.write('first', () => response.destroy());
  });
  const speech = await post('audio/speech', { model: 'tool', input: 'Say this.' });
  await expect(speech.text()).rejects.toThrow();
  expect(await nextRow()).toMatchObject({ prompt_tokens: 3, status: 502 });

  upstream.answer(({ response }) => {
    sendEvents(response, [completion([choice('abcd')])], false);
    response.end();
  });
  const stream = await post('completions', { model: 'tool', prompt: 'Hello!', stream: true });
  const { text, isCut } = await readStream(stream);
  expect([isCut, text.includes('"code":"bad_gateway"')]).toEqual([true, true]);
  expect(await nextRow()).toMatchObject({ completion_tokens: 1, status: 502 });
});

test('an error among the events of images ends the answer, with the message on one line and without the key', async () => {
  const key = 'sk-live-0123456789abcdef';
  await register('keyed', { url: upstream.url, api_key: key, capabilities: CAPABILITIES });
  upstream.answer(({ response }) =>
    sendEvents(response, [
      { type: 'image_generation.partial_image', b64_json: 'AAAA' },
      { type: 'error', error: { message: `bad key ${key}\nat line 2` } },
      { type: 'image_generation.completed', b64_json: 'BBBB' },
    ]),
  );
  const request = { model: 'tool', prompt: 'a cat', stream: true, provider: 'keyed' };
  const { text, isCut } = await readStream(await post('images/generations', request));
  expect(isCut).toBe(true);
  expect(text).toContain('AAAA');
  expect(text).toContain('"message":"bad key [redacted] at line 2"');
  expect(text).not.toContain(key);
  expect(text).not.toContain('BBBB');
  expect(await nextRow()).toMatchObject({ status: 502, upstream: 'keyed' });
  await admin(gateway, 'DELETE', 'backends/by-name/keyed');
});

test('another backend answers when one fails, or answers an error or no JSON as a success', async () => {
  const second = await startRelayUpstream({ models: ['tool:latest'] });
  await register('second', { url: second.url, capabilities: CAPABILITIES });
  const results = [{ index: 0 }];
  second.answer(({ response }) => sendJson(response, { results }));
  const request = { model: 'tool', query: '', documents: [''], provider: { order: ['up'] } };
  const error = '{"error": {"message": "no GPU"}}';
  for (const [status, body] of Object.entries({ 503: error, 200: error, 203: '<html>' })) {
    upstream.answer(({ response }) => response.writeHead(Number(status)).end(body));
    const response = await post('rerank', request);
    expect(response.headers.get('x-service-backend')).toBe('second');
    expect(await response.json()).toEqual({ results });
    expect(await nextRow()).toMatchObject({ upstream: 'second' });
  }
  await admin(gateway, 'DELETE', 'backends/by-name/second');
  await second.close();
});

test('a page is no audio, even with the status of a success, and nobody pays for it', async () => {
  upstream.answer(({ response }) => {
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
    response.end('<html>Sign in to the proxy</html>');
  });
  const response = await post('audio/speech', { model: 'tool', input: 'Say this.' });
  expect(response.status).toBe(502);
  expect(await response.text()).not.toContain('Sign in');
  expect(await rowsNow()).toEqual([]);
});

test('quotas hold: what a request may use is reserved before it is passed', async () => {
  const { database, bus, log } = gateway.test.context;
  const events = createAccountEvents({ channels: bus.channels, counters: bus.counters, log });
  const setQuota = async (monthlyTokenQuota: number | null) => {
    await database.plans.saveTier('free', { monthlyTokenQuota });
    await events.changed({ kind: 'tiers' });
  };
  await setQuota(100);
  upstream.answer(() => undefined);
  const { length } = upstream.calls;
  const large = { model: 'tool', prompt: 'Hello!', max_tokens: 1_000 };
  const held = post('completions', large);
  await upstream.until(() => upstream.calls.length > length);
  for (const [path, body] of [
    ['completions', { prompt: 'Hello!' }],
    ['images/generations', { prompt: 'a cat' }],
    ['rerank', { query: 'x', documents: ['a'.repeat(1_000)] }],
    ['audio/speech', { input: 'a'.repeat(1_000) }],
  ] as const) {
    const response = await post(path, { model: 'tool', ...body });
    expect(response.status).toBe(429);
    expect(await response.json()).toMatchObject({ error: { code: 'quota_exceeded' } });
  }
  expect(upstream.calls).toHaveLength(length + 1);
  const call = upstream.calls.at(-1);
  if (call !== undefined) sendJson(call.response, completion([choice('Hi', 'stop')]));
  expect((await held).status).toBe(200);
  await setQuota(null);
});
