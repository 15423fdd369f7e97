import { readStream } from '@model-gateway/testkit';
import {
  startChatUpstream,
  type ChatFault,
  type RunningChatUpstream,
} from '@model-gateway/testkit/upstreams';
import OpenAI from 'openai';
import { admin, registerBackend, startGateway, type GatewayUnderTest } from '../gateway.ts';
import { takeUsage } from '../money/usage-journal.ts';

let gateway: GatewayUnderTest;
/** A new one for every test, with a model of its own: failures of one test open no circuit in another. */
let upstream: RunningChatUpstream;
let model = '';
let upstreams = 0;

beforeAll(async () => {
  gateway = await startGateway({
    SERVICE_UPSTREAM_IDLE_TIMEOUT_MS: '1500',
    SERVICE_UPSTREAM_TOTAL_TIMEOUT_MS: '8000',
    SERVICE_API_RATE_LIMIT_RPM: '100000',
    SERVICE_MAX_BODY_BYTES: '100000',
  });
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

function chat(stream: boolean, asked = model): Promise<Response> {
  return fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}` },
    body: JSON.stringify({ model: asked, messages: [{ role: 'user', content: 'Hello!' }], stream }),
  });
}

interface ErrorBody {
  readonly error: { readonly code: string; readonly message: string };
}

/** The error of a refused request, or of the last chunk of an interrupted stream. */
async function errorOf(response: Response): Promise<ErrorBody['error']> {
  const { text, isCut } = await readStream(response);
  expect(isCut).toBe(response.status === 200);
  const last = isCut ? (text.split('\n\n').at(-2) ?? '').replace('data: ', '') : text;
  expect(text).not.toContain('[DONE]');
  return (JSON.parse(last) as ErrorBody).error;
}

describe.each([{ stream: false }, { stream: true }])(
  'before the first byte, with stream: $stream',
  ({ stream }) => {
    test.each<{ why: string; fault: ChatFault; message: RegExp }>([
      {
        why: 'a 500',
        fault: { kind: 'status', status: 500, body: { error: { message: 'broken' } } },
        message: /^upstream 500: broken$/,
      },
      {
        why: 'a 429',
        fault: { kind: 'status', status: 429, body: { error: 'slow down' } },
        message: /^upstream 429: slow down$/,
      },
      {
        why: 'a 400',
        fault: { kind: 'status', status: 400, body: 'no such parameter' },
        message: /^upstream 400: /,
      },
      {
        why: 'a redirect',
        fault: { kind: 'status', status: 302, body: '' },
        message: /^upstream 302: /,
      },
      {
        why: 'an error in place of a response',
        fault: { kind: 'error-body', body: { error: { message: 'oops' } } },
        message: /^upstream 200: oops$/,
      },
      { why: 'invalid JSON', fault: { kind: 'garbage-json' }, message: /not JSON/ },
      { why: 'a reset', fault: { kind: 'reset' }, message: /./ },
      { why: 'silence', fault: { kind: 'hang' }, message: /timeout|took longer/i },
    ])('$why is 502', async ({ fault, message }) => {
      upstream.faults.next(fault);
      const response = await chat(stream);
      expect(response.status).toBe(502);
      const error = await errorOf(response);
      expect(error).toMatchObject({ code: 'bad_gateway', message: expect.stringMatching(message) });
    });

    test('an error detail of 5 MB is cut at 4 KB', async () => {
      upstream.faults.next({ kind: 'huge-error', bytes: 5 * 1024 * 1024 });
      const response = await chat(stream);
      expect(response.status).toBe(502);
      const { message } = await errorOf(response);
      expect(Buffer.byteLength(message)).toBeGreaterThan(4000);
      expect(Buffer.byteLength(message)).toBeLessThanOrEqual(4096 + 'upstream 500: '.length);
    });

    test('a refused connection is 502, and a response that begins late is awaited', async () => {
      await upstream.refuse();
      expect((await chat(stream)).status).toBe(502);
      await upstream.resume();
      upstream.faults.next({ kind: 'slow-start', delayMs: 200 });
      expect((await chat(stream)).status).toBe(200);
    });

    test('after a failure the request is retried once on another backend', async () => {
      const other = await startChatUpstream({ models: [model] });
      await registerBackend(gateway, { type: 'external', name: 'other', url: other.url });
      upstream.faults.always({ kind: 'status', status: 503 });
      for (let count = 0; count < 4; count += 1) {
        const response = await chat(stream);
        expect(response.status).toBe(200);
        expect(response.headers.get('x-service-backend')).toBe('other');
        await response.text();
      }
      expect(await takeUsage(gateway.test.context.bus.journal, 4, model)).toHaveLength(4);
      await other.close();
    });

    test('a request that the upstream refuses is not retried on another backend', async () => {
      const other = await startChatUpstream({ models: [model] });
      await registerBackend(gateway, { type: 'external', name: 'other', url: other.url });
      for (const server of [upstream, other]) server.faults.always({ kind: 'status', status: 422 });
      const before = upstream.requestCount + other.requestCount;
      expect((await chat(stream)).status).toBe(502);
      expect(upstream.requestCount + other.requestCount).toBe(before + 1);
      await other.close();
    });
  },
);

describe('in mid-stream', () => {
  test.each<{ why: string; fault: ChatFault; message: RegExp }>([
    { why: 'a reset', fault: { kind: 'cut', afterChunks: 3 }, message: /./ },
    { why: 'silence', fault: { kind: 'stall', afterChunks: 3 }, message: /timeout/i },
    {
      why: 'an error of the upstream',
      fault: { kind: 'error-chunk', afterChunks: 3, message: 'out of memory' },
      message: /out of memory/,
    },
  ])(
    '$why becomes one error chunk and the end of the connection, and what came before is metered',
    async ({ fault, message }) => {
      upstream.faults.next(fault);
      const response = await chat(true);
      expect(response.status).toBe(200);
      const error = await errorOf(response);
      expect(error).toMatchObject({ code: 'bad_gateway', message: expect.stringMatching(message) });
      const [event] = await takeUsage(gateway.test.context.bus.journal, 1, model);
      expect(event?.completion_tokens).toBeGreaterThan(0);
      expect(event?.status).toBe(502);
    },
  );

  test('a missing end mark after a complete response is added', async () => {
    upstream.faults.next({ kind: 'no-done' });
    const text = await (await chat(true)).text();
    expect(text).not.toContain('"error"');
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
  });

  test('an event that is not JSON is skipped and the official client reads on', async () => {
    upstream.faults.next({ kind: 'garbage-line', afterChunks: 1 });
    const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.key, maxRetries: 0 });
    const stream = await client.chat.completions.create({
      model,
      messages: [{ role: 'user', content: 'Hello!' }],
      stream: true,
    });
    let text = '';
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
    expect(text).toContain('Hello!');
  });

  test('characters split across packets and chunks of a megabyte arrive complete', async () => {
    upstream.faults.next({ kind: 'split-utf8' });
    const split = await (await chat(true)).text();
    expect(split).not.toContain('\uFFFD');
    upstream.faults.next({ kind: 'huge-chunk', bytes: 1024 * 1024 });
    const huge = await (await chat(true)).text();
    expect(huge.length).toBeGreaterThan(1024 * 1024);
    expect(huge.endsWith('data: [DONE]\n\n')).toBe(true);
  });
});

test('an upstream that quotes its key does not leak it', async () => {
  const keyed = await startChatUpstream({
    models: ['keyed'],
    apiKey: 'sk-very-secret-upstream-key',
  });
  await registerBackend(gateway, {
    type: 'external',
    name: 'keyed',
    url: keyed.url,
    api_key: 'sk-very-secret-upstream-key',
  });
  keyed.faults.next({
    kind: 'status',
    status: 400,
    body: { error: { message: 'bad key sk-very-secret-upstream-key' } },
  });
  const { message } = await errorOf(await chat(false, 'keyed'));
  expect(message).toBe('upstream 400: bad key [redacted]');
  keyed.faults.next({
    kind: 'error-chunk',
    afterChunks: 1,
    message: 'bad key\nsk-very-secret-upstream-key',
  });
  expect((await errorOf(await chat(true, 'keyed'))).message).toBe('bad key [redacted]');
  await keyed.close();
});

test('a body that is nested too deeply is a client error', async () => {
  const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}` },
    body: `{"model":"demo-chat","messages":[{"role":"user","content":"Hi"}],"deep":${deep}}`,
  });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({
    error: { code: 'invalid_request', message: 'the request is nested too deeply' },
  });
});
