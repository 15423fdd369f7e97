import { chatTurn } from '@model-gateway/dialects';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { manualClock } from '@model-gateway/kernel';
import type { Backend } from '@model-gateway/router';
import { createBackend } from './create-backend.ts';

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
let probed: string[];
const clock = manualClock(1_000_000);

beforeAll(async () => {
  server = createServer((request, response) => {
    const key = String(request.headers.authorization).replace('Bearer ', '');
    const refusal = refused.get(key);
    (request.method === 'POST' ? seen : probed).push(key);
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
  probed = [];
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
/** Asks with one of the keys. */
const chat = (key: number) =>
  backend.keys?.[key]?.chat?.(chatTurn({ model: 'm', messages }), never);

test('there is the same backend with each of its keys', async () => {
  for (const at of KEYS.keys()) await chat(at);
  expect(seen).toEqual(KEYS);
  expect(backend.keys?.map(({ name, kind }) => [name, kind])).toEqual(
    KEYS.map(() => ['cloud', 'external']),
  );
});

test('what an upstream says about a key is passed on without the key', async () => {
  refused.set(TWO, { status: 429, retryAfter: '30' });
  const failure: unknown = await chat(1)?.catch((error: unknown) => error);
  expect(failure).toMatchObject({ status: 429, isRateLimit: true, retryAfterSecs: 30 });
  expect(failure).toHaveProperty('message', 'upstream 429: the key [redacted] is refused');
});

test('the backend is healthy while one key is accepted', async () => {
  refused.set(ONE, { status: 401 });
  refused.set(TWO, { status: 401 });
  expect(await backend.probe(never)).toMatchObject({ state: 'Healthy', models: ['m'] });
  // The next probe begins with the accepted key.
  probed = [];
  expect(await backend.probe(never)).toMatchObject({ state: 'Healthy' });
  expect(new Set(probed)).toEqual(new Set([THREE]));
  refused.set(THREE, { status: 401 });
  expect(await backend.probe(never)).toMatchObject({ state: 'Degraded' });
  refused.delete(ONE);
  expect(await backend.probe(never)).toMatchObject({ state: 'Healthy' });
});
