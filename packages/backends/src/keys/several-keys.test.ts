import { chatTurn } from '@model-gateway/dialects';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { manualClock } from '@model-gateway/kernel';
import type { Backend } from '@model-gateway/router';
import { createBackend } from '../factory/create-backend.ts';

const KEYS = ['key-number-one', 'key-number-two', 'key-number-three'] as const;
const [ONE, TWO, THREE] = KEYS;
const timeouts = { connectMs: 20_000, idleMs: 20_000, totalMs: 20_000 };
const never = new AbortController().signal;

/** What the upstream answers to a key, if it is not accepted. */
interface Refused {
  readonly status: number;
  readonly retryAfter?: string;
}

let server: Server;
let backend: Backend;
let refused: Map<string, Refused>;
let seen: string[];
const clock = manualClock(1_000_000);

beforeAll(async () => {
  server = createServer((request, response) => {
    const key = String(request.headers.authorization).replace('Bearer ', '');
    const refusal = refused.get(key);
    if (request.method === 'POST') seen.push(key);
    request.resume();
    response.setHeader('content-type', 'application/json');
    if (refusal?.retryAfter !== undefined) response.setHeader('retry-after', refusal.retryAfter);
    response.statusCode = refusal?.status ?? 200;
    const message = { role: 'assistant', content: 'ok' };
    const answer =
      refusal === undefined
        ? { data: [{ id: 'm' }], choices: [{ index: 0, finish_reason: 'stop', message }] }
        : { error: { message: `the key ${key} is refused` } };
    response.end(JSON.stringify(answer));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => server.close());
beforeEach(() => {
  refused = new Map();
  seen = [];
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const url = `http://127.0.0.1:${port}`;
  const config = { name: 'cloud', type: 'external', url, apiKey: null, apiKeys: KEYS };
  backend = createBackend(
    { ...config, models: [], capabilities: ['chat', 'images'] },
    { timeouts, clock },
  );
});
afterEach(() => backend.close());

const messages = [{ role: 'user', content: 'Hi' }];
const chat = () => backend.chat?.(chatTurn({ model: 'm', messages }), never);
async function keysOf(calls: number): Promise<readonly string[]> {
  seen = [];
  for (let call = 0; call < calls; call += 1) await chat();
  return seen;
}

test('the keys are used in turn', async () => {
  expect(await keysOf(4)).toEqual([ONE, TWO, THREE, ONE]);
});

test.each([
  { why: 'a rate limit that says when it ends', status: 429, retryAfter: '20', restMs: 20_000 },
  { why: 'a rate limit that does not', status: 429, restMs: 5_000 },
  { why: 'a key that is unknown', status: 401, restMs: 600_000 },
  { why: 'a key that is forbidden', status: 403, restMs: 60_000 },
])('after $why the key rests alone, and the request is served', async ({ restMs, ...refusal }) => {
  refused.set(TWO, refusal);
  expect(await keysOf(2)).toEqual([ONE, TWO, THREE]);
  expect(new Set(await keysOf(6))).toEqual(new Set([ONE, THREE]));
  refused.clear();
  clock.advance(restMs - 1);
  expect(new Set(await keysOf(6))).toEqual(new Set([ONE, THREE]));
  clock.advance(1);
  expect(new Set(await keysOf(3))).toEqual(new Set(KEYS));
});

test('a request learns of each key that is refused, and no other request does', async () => {
  refused.set(ONE, { status: 401 });
  refused.set(TWO, { status: 429 });
  const noted: unknown[] = [];
  const observed = backend.observed?.((failure) => noted.push(failure));
  await observed?.chat?.(chatTurn({ model: 'm', messages }), never);
  expect(noted).toMatchObject([{ status: 401 }, { status: 429 }]);
  refused.set(THREE, { status: 401 });
  await expect(chat()).rejects.toMatchObject({ status: 401 });
  expect(noted).toHaveLength(2);
});

test('when all are limited, the error is that of the key that is ready first, without the key', async () => {
  refused.set(ONE, { status: 401 });
  refused.set(TWO, { status: 429, retryAfter: '30' });
  refused.set(THREE, { status: 429, retryAfter: '50' });
  const failure: unknown = await chat()?.catch((error: unknown) => error);
  expect(failure).toMatchObject({ status: 429, isRateLimit: true });
  expect(failure).toHaveProperty('message', 'upstream 429: the key [redacted] is refused');
  expect(failure).toHaveProperty('retryAfterSecs', 30);
  // The one that is ready first is asked; the others rest.
  seen = [];
  await expect(chat()).rejects.toMatchObject({ status: 429 });
  expect(seen).toEqual([TWO]);
});

test('what every key answers with 403 is about the request, and no key rests', async () => {
  for (const key of KEYS) refused.set(key, { status: 403 });
  await expect(chat()).rejects.toMatchObject({ status: 403 });
  refused.clear();
  expect(new Set(await keysOf(3))).toEqual(new Set(KEYS));
});

test('other failures are not about a key', async () => {
  refused.set(ONE, { status: 500 });
  await expect(chat()).rejects.toMatchObject({ status: 500 });
  expect(seen).toEqual([ONE]);
  refused.clear();
  expect(new Set(await keysOf(3))).toEqual(new Set(KEYS));
});

test('a body that was sent while it was read is not sent again', async () => {
  refused.set(ONE, { status: 429 });
  const bytes = (async function* () {
    yield Buffer.from('{}');
  })();
  const content = { contentType: 'application/json', bytes, length: undefined };
  const request = { model: 'm', path: '/images/edits', content };
  await expect(backend.pass?.(request, never)).rejects.toMatchObject({ status: 429 });
  expect(seen).toEqual([ONE]);
});

test('the backend is healthy while one key is accepted', async () => {
  refused.set(ONE, { status: 401 });
  refused.set(TWO, { status: 401 });
  expect(await backend.probe(never)).toMatchObject({ state: 'Healthy', models: ['m'] });
  refused.set(THREE, { status: 401 });
  expect(await backend.probe(never)).toMatchObject({ state: 'Degraded' });
});
