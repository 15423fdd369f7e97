import { once } from 'node:events';
import { request, type ClientRequest, type IncomingMessage } from 'node:http';
import { text as readAll } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { newId } from '@model-gateway/kernel';
import { waitUntil } from '@model-gateway/testkit';
import { startChatUpstream, type RunningChatUpstream } from '@model-gateway/testkit/upstreams';
import { keysOf, registerBackend, startGateway, type GatewayUnderTest } from '../gateway.ts';

const MEBIBYTE = 1024 * 1024;
const OWN_WAITING_MAX = 100;

let gateway: GatewayUnderTest;
let upstream: RunningChatUpstream;
let otherKey = '';

beforeAll(async () => {
  gateway = await startGateway({
    SERVICE_MAX_BODY_BYTES: String(8 * MEBIBYTE),
    SERVICE_API_RATE_LIMIT_RPM: '1000',
    SERVICE_REQUEST_BODIES_BYTES_MAX: String(4 * MEBIBYTE),
  });
  upstream = await startChatUpstream({ models: ['demo-chat'] });
  await registerBackend(gateway, { type: 'external', name: 'up', url: upstream.url });
  const { users } = gateway.test.context.database;
  const email = 'other@example.com';
  const other = await users.create({ id: newId(), email, name: '', passwordHash: 'not used' });
  ({ secret: otherKey } = await keysOf(gateway.test).create({ userId: other.id, name: 'other' }));
});
afterAll(async () => {
  await gateway.test.close();
  await upstream.close();
});
afterEach(() => waitUntil(async () => (await held()) === 0, { what: 'free memory' }));

const chatOf = (bytes: number): Buffer => {
  const content = 'x'.repeat(bytes);
  return Buffer.from(
    JSON.stringify({ model: 'demo-chat', max_tokens: 1, messages: [{ role: 'user', content }] }),
  );
};

interface Sending {
  readonly asked: ClientRequest;
  readonly answer: Promise<{
    readonly status: number;
    readonly retryAfter: string | undefined;
    readonly text: string;
  }>;
}

/** Begins a request. */
function begin(
  headers: Readonly<Record<string, string | number>>,
  { key = gateway.key, path = '/v1/chat/completions' } = {},
): Sending {
  const asked = request(`${gateway.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, ...headers },
  });
  const answer = once(asked, 'response').then(async (event) => {
    const [response] = event as [IncomingMessage];
    const text = await readAll(response);
    return { status: response.statusCode ?? 0, retryAfter: response.headers['retry-after'], text };
  });
  answer.catch(() => undefined);
  asked.on('error', () => undefined);
  asked.flushHeaders();
  return { asked, answer };
}

/** A body of which all but the last byte has been sent. */
function beginBody(body: Buffer, key?: string): Sending & { readonly finish: () => void } {
  const sending = begin({ 'content-length': body.length }, key === undefined ? {} : { key });
  sending.asked.write(body.subarray(0, -1));
  return { ...sending, finish: () => sending.asked.end(body.subarray(-1)) };
}

async function metric(name: string): Promise<number> {
  const text = await (await fetch(`${gateway.url}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1]);
}
const held = (): Promise<number> => metric('service_request_body_bytes');
const waiting = (): Promise<number> => metric('service_request_bodies_waiting');

async function send(body: Buffer, key?: string): Promise<number> {
  const { asked, answer } = begin(
    { 'content-length': body.length },
    key === undefined ? {} : { key },
  );
  asked.end(body);
  return (await answer).status;
}

test('a large body of a user waits for the others of that user; small ones and other users do not', async () => {
  const large = chatOf(1.5 * MEBIBYTE);
  const first = beginBody(large);
  await waitUntil(async () => (await held()) === large.length);
  const second = beginBody(large);
  second.finish();
  await waitUntil(async () => (await waiting()) === 1);
  expect(await send(chatOf(200 * 1024))).toBe(200);
  expect(await send(large, otherKey)).toBe(200);
  expect({ held: await held(), waiting: await waiting() }).toEqual({
    held: large.length,
    waiting: 1,
  });
  first.finish();
  expect((await first.answer).status).toBe(200);
  expect((await second.answer).status).toBe(200);
});

test('a body that is larger than the memory of all is served', async () => {
  expect(await send(chatOf(6 * MEBIBYTE))).toBe(200);
});

test('the memory of a body is free when its client leaves', async () => {
  const { asked } = beginBody(chatOf(MEBIBYTE));
  await waitUntil(async () => (await held()) > 0);
  asked.destroy();
  await waitUntil(async () => (await held()) === 0);
});

test.each([
  ['chunked', {}, (body: Buffer) => body],
  ['compressed', { 'content-encoding': 'gzip' }, gzipSync],
] as const)(
  'a %s body, whose length is not known, takes memory as well',
  async (_kind, headers, encoded) => {
    const other = beginBody(chatOf(3 * MEBIBYTE), otherKey);
    await waitUntil(async () => (await held()) > 0);
    const { asked, answer } = begin({ 'transfer-encoding': 'chunked', ...headers });
    asked.end(encoded(chatOf(2 * MEBIBYTE)));
    await waitUntil(async () => (await waiting()) === 1);
    other.finish();
    expect((await other.answer).status).toBe(200);
    expect((await answer).status).toBe(200);
  },
);

test('a user who has too many bodies that wait is refused at once', async () => {
  const body = chatOf(300 * 1024);
  const first = beginBody(chatOf(3 * MEBIBYTE));
  await waitUntil(async () => (await held()) > 0);
  const queued = Array.from({ length: OWN_WAITING_MAX }, () => beginBody(body));
  try {
    await waitUntil(async () => (await waiting()) === OWN_WAITING_MAX);
    // The Messages API has a status of its own for it.
    for (const [path, status] of [
      ['/v1/chat/completions', 503],
      ['/v1/messages/count_tokens', 529],
    ] as const) {
      const { asked, answer } = begin({ 'content-length': body.length }, { path });
      asked.end(body);
      const refused = await answer;
      expect(refused).toMatchObject({ status, retryAfter: '5' });
      expect(refused.text).toContain('SERVICE_REQUEST_BODIES_BYTES_MAX');
    }
    expect(await send(body, otherKey)).toBe(200);
  } finally {
    for (const { asked } of [first, ...queued]) asked.destroy();
  }
});

test('the fields of a form are small together', async () => {
  const boundary = 'boundary';
  const field = (name: string, value: string): string =>
    `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
  const prompts = Array.from({ length: 5 }, (_, index) =>
    field(`prompt${index}`, 'x'.repeat(60 * 1024)),
  );
  const form = Buffer.from(`${field('model', 'demo-chat')}${prompts.join('')}--${boundary}--\r\n`);
  const { asked, answer } = begin(
    { 'content-type': `multipart/form-data; boundary=${boundary}`, 'content-length': form.length },
    { path: '/v1/audio/transcriptions' },
  );
  asked.end(form);
  const { status, text } = await answer;
  expect(status).toBe(413);
  expect(text).toContain('262144 bytes together');
});
