import { newId } from '@model-gateway/kernel';
import { waitUntil } from '@model-gateway/testkit';
import { startChatUpstream, type RunningChatUpstream } from '@model-gateway/testkit/upstreams';
import {
  admin,
  keysOf,
  liftTier,
  registerBackend,
  startTwoGateways,
  type TwoGateways,
} from '../gateway.ts';
import { startSlowUpstream } from '../chat/slow-upstream.ts';

const CALLERS = 50;
const MODEL = 'demo-chat';
const messages = [{ role: 'user', content: 'Hi' }];

let gateways: TwoGateways;
let upstream: RunningChatUpstream;
let key: string;

beforeAll(async () => {
  upstream = await startChatUpstream({ models: [MODEL, 'spare'] });
  gateways = await startTwoGateways();
  const { database } = gateways.test.context;
  await liftTier(database);
  const userId = newId();
  await database.users.create({ id: userId, email: 'a@example.com', name: '', passwordHash: '-' });
  key = (await keysOf(gateways.test).create({ userId, name: 'key' })).secret;
});
afterAll(async () => {
  await gateways.test.close();
  await upstream.close();
});

function ask(turn: number, body: object, path = 'chat/completions'): Promise<Response> {
  return fetch(`${gateways.urls[turn % 2 === 0 ? 0 : 1]}/v1/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify(body),
  });
}

/** Registers a backend and waits until the other gateway knows it. */
async function register(backend: Readonly<Record<string, unknown>>): Promise<void> {
  const [first, second] = gateways.urls;
  expect((await registerBackend({ url: first }, { type: 'external', ...backend })).status).toBe(
    200,
  );
  const path = `backends/by-name/${String(backend['name'])}`;
  await waitUntil(async () => {
    const answer = await admin({ url: second }, 'GET', path);
    const { limits, state } = (await answer.json()) as Readonly<Record<string, unknown>>;
    return state === 'Healthy' && JSON.stringify(limits) === JSON.stringify(await limitsAt(path));
  });
}

async function limitsAt(path: string): Promise<unknown> {
  const answer = await admin({ url: gateways.urls[0] }, 'GET', path);
  return ((await answer.json()) as Readonly<Record<string, unknown>>)['limits'];
}

test('a backend with concurrency 4 never has five requests, with 50 callers on two gateways', async () => {
  const slow = await startSlowUpstream('slow');
  try {
    await register({ name: 'slow', url: slow.url, limits: { concurrency: 4 } });
    const body = { model: 'slow', messages };
    const waiting = Array.from({ length: CALLERS }, (_, turn) => ask(turn, body));
    await slow.untilWaiting(4);
    const refused = Array.from({ length: 4 }, (_, turn) => ask(turn, body));
    for (const answer of await Promise.all(refused)) {
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '1']);
      expect(await answer.json()).toMatchObject({
        error: {
          code: 'rate_limit_exceeded',
          message: "the backends of model 'slow' are at their limits; try again in 1 s",
        },
      });
    }
    slow.answerAll();
    const statuses = (await Promise.all(waiting)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(4);
    // Callers that ask again are all served in the end.
    const served = Array.from({ length: CALLERS }, (_, turn) =>
      waitUntil(async () => (await ask(turn, body)).status === 200),
    );
    await Promise.all(served);
    expect(slow.most()).toBe(4);
  } finally {
    await slow.close();
  }
});

test('a full backend is skipped; every kind of request counts, on both gateways', async () => {
  await register({ name: 'limited', url: upstream.url, limits: { rpm: 4, tokens_per_day: 1000 } });
  const kinds: readonly [path: string, body: object][] = [
    ['chat/completions', { model: MODEL, messages }],
    ['chat/completions', { model: MODEL, messages, stream: true }],
    ['messages', { model: MODEL, messages, max_tokens: 10 }],
    ['embeddings', { model: MODEL, input: 'Hi' }],
  ];
  for (const [turn, [path, body]] of kinds.entries()) {
    const answer = await ask(turn, body, path);
    expect([path, answer.status]).toEqual([path, 200]);
    await answer.arrayBuffer();
  }
  for (const [turn, [path, body]] of kinds.entries()) {
    const answer = await ask(turn, body, path);
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '1']);
  }
  // Another backend takes what the first may not get.
  await register({ name: 'unlimited', url: upstream.url });
  const answer = await ask(0, { model: MODEL, messages });
  expect([answer.status, answer.headers.get('x-service-route')]).toEqual([
    200,
    `${MODEL}@unlimited`,
  ]);
  for (const name of ['limited', 'unlimited']) {
    await admin({ url: gateways.urls[0] }, 'DELETE', `backends/by-name/${name}`);
  }
});

test('the tokens of the day are those that the answers used', async () => {
  await register({ name: 'daily', url: upstream.url, limits: { tokens_per_day: 1 } });
  const body = { model: 'spare', messages };
  expect((await ask(0, body)).status).toBe(200);
  await waitUntil(async () => (await ask(1, body)).status === 429);
});

test('a stream keeps its place until its caller leaves', async () => {
  const slow = await startChatUpstream({ models: ['streamed'] });
  try {
    await register({ name: 'streaming', url: slow.url, limits: { concurrency: 1 } });
    slow.faults.next({ kind: 'stall', afterChunks: 1 });
    const body = JSON.stringify({ model: 'streamed', messages, stream: true });
    const headers = { authorization: `Bearer ${key}` };
    const url = `${gateways.urls[0]}/v1/chat/completions`;
    const stream = await fetch(url, { method: 'POST', headers, body });
    expect(stream.status).toBe(200);
    expect((await ask(1, { model: 'streamed', messages })).status).toBe(429);
    await stream.body?.cancel();
    await waitUntil(async () => (await ask(1, { model: 'streamed', messages })).status === 200);
  } finally {
    await slow.close();
  }
});
