import { createAccountEvents } from '@model-gateway/accounts';
import type { TierChanges } from '@model-gateway/billing';
import { testRedisUrl, usageEvent, usageEventsIn, waitUntil } from '@model-gateway/testkit';
import { newId, type JournalEntry } from '@model-gateway/kernel';
import { Redis } from 'ioredis';
import { createGateway } from '../../src/app.ts';
import { readGatewayConfig } from '../../src/config.ts';
import {
  NO_ITEMS,
  keysOf,
  registerBackend,
  startGateway,
  type GatewayUnderTest,
} from '../gateway.ts';
import { startSlowUpstream, type SlowUpstream } from '../chat/slow-upstream.ts';

const MODEL = 'gpt-4o-mini';
const SETTINGS = {
  SERVICE_API_RATE_LIMIT_RPM: '100000',
  SERVICE_MAX_BODY_BYTES: '100000',
  SERVICE_MAX_CALLS_PER_USER: '30',
};
const CALL_KEPT_MS = 15 * 60_000;

let gateway: GatewayUnderTest;
let upstream: SlowUpstream;
/** Two gateways on one Redis. */
let urls: readonly [string, string];
let redis: Redis;

beforeEach(async () => {
  gateway = await startGateway(SETTINGS);
  const config = readGatewayConfig({
    DATABASE_URL: 'postgres://unused',
    REDIS_URL: 'redis://unused',
    ...SETTINGS,
  });
  const peer = await gateway.test.openPeer();
  upstream = await startSlowUpstream(MODEL);
  await registerBackend(gateway, { type: 'external', name: 'up', url: upstream.url });
  urls = [gateway.url, await gateway.test.serve(createGateway(config, peer))];
  redis = new Redis(testRedisUrl());
});
afterEach(async () => {
  redis.disconnect();
  await upstream.close();
  await gateway.test.close();
});

async function setTier(changes: TierChanges): Promise<void> {
  const { database, bus, log } = gateway.test.context;
  await database.plans.saveTier('free', changes);
  const events = createAccountEvents({ channels: bus.channels, counters: bus.counters, log });
  await events.changed({ kind: 'tiers' });
}

async function spend(tokens: number): Promise<void> {
  const { database, bus } = gateway.test.context;
  const event = usageEvent(gateway.userId, { total_tokens: tokens, cost: 0 });
  const { facts } = await database.usage.record([event], { pointsPerUsd: 100 });
  await bus.admission.updateHints(facts);
}

/** Settles what was served, as the recorder does. */
async function settleServed(): Promise<void> {
  const { database, bus } = gateway.test.context;
  const stopping = new AbortController();
  const record = async (batch: readonly JournalEntry[]): Promise<void> => {
    const events = usageEventsIn(batch);
    const { facts } = await database.usage.record(events, { pointsPerUsd: 100 });
    const settled = events.flatMap(({ call_id: id, user_id: userId }) =>
      id === undefined ? [] : [{ id, userId }],
    );
    await bus.admission.updateHints({ ...facts, settled });
  };
  const draining = bus.journal.drain(record, { batchSize: 100, signal: stopping.signal });
  await waitUntil(async () => (await bus.journal.lag()) === 0, { what: 'an empty journal' });
  stopping.abort();
  await draining;
}

interface Request {
  readonly turn?: number;
  readonly key?: string;
  readonly body?: object;
  readonly signal?: AbortSignal;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

function ask({
  turn = 0,
  key = gateway.key,
  body,
  signal,
  path = 'chat/completions',
  headers,
}: Request = {}) {
  const messages = [{ role: 'user', content: 'Hi' }];
  return fetch(`${urls[turn % 2 === 0 ? 0 : 1]}/v1/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, ...headers },
    body: JSON.stringify({ model: MODEL, messages, ...body }),
    ...(signal === undefined ? {} : { signal }),
  });
}

const leftOver = async (): Promise<readonly string[]> => {
  const { redisPrefix } = gateway.test;
  return [
    ...(await redis.keys(`${redisPrefix}call:*`)),
    ...(await redis.keys(`${redisPrefix}sums:*`)),
  ];
};
async function nothingLeft(): Promise<void> {
  await settleServed();
  await waitUntil(async () => (await leftOver()).length === 0, { what: 'no call on Redis' });
}

/** As if this much time had passed for what is on Redis. */
async function ageCalls(milliseconds: number): Promise<void> {
  const due = `${gateway.test.redisPrefix}calls-due`;
  for (const name of await redis.zrange(due, '0', '-1')) {
    await redis.zincrby(due, -milliseconds, name);
  }
}

async function expectReserved(response: Response): Promise<void> {
  expect(response.status).toBe(429);
  expect(response.headers.get('retry-after')).toBe('5');
  expect(response.headers.get('x-should-retry')).toBeNull();
  expect(await response.json()).toEqual({
    error: {
      message:
        'the rest of the monthly quota is reserved by requests in progress; retry when they have ended',
      type: 'quota_error',
      code: 'quota_exceeded',
      param: null,
    },
  });
}

test('of 25 concurrent requests to two processes a quota for one admits one, with the last token', async () => {
  await setTier({ monthlyTokenQuota: 100 });
  await spend(99);
  const asking = Array.from({ length: 25 }, (_, turn) =>
    ask({ turn, body: { max_tokens: 5_000 } }),
  );
  let answered = 0;
  for (const response of asking) void response.then(() => (answered += 1));
  // The one that is admitted waits for its upstream.
  await waitUntil(async () => answered === 24, { what: '24 refusals' });
  upstream.answerAll();
  const responses = await Promise.all(asking);
  expect(responses.filter(({ status }) => status === 200)).toHaveLength(1);
  for (const response of responses) if (response.status !== 200) await expectReserved(response);
  await nothingLeft();
});

test('the next request is admitted when the one in flight has ended', async () => {
  await setTier({ monthlyTokenQuota: 300 });
  await spend(10);
  const first = ask();
  await upstream.untilWaiting(1);
  // 256 tokens and the prompt are reserved of 290.
  const second = ask({ turn: 1 });
  await upstream.untilWaiting(2);
  await expectReserved(await ask({ turn: 1 }));
  await expectReserved(await ask({ path: 'embeddings', body: { input: 'x' } }));
  upstream.answerAll();
  expect([(await first).status, (await second).status]).toEqual([200, 200]);
  expect((await ask({ turn: 1 })).status).toBe(200);
  await nothingLeft();
});

test('a request reserves the price of the dearest model that may serve it', async () => {
  await setTier({ monthlyTokenQuota: null, monthlyUsdQuota: 0.05 });
  // 10,000 tokens cost 0.006 USD, and with the other model 0.1 USD.
  const body = { max_tokens: 10_000 };
  const cheap = ask({ body });
  await upstream.untilWaiting(1);
  const dear = ask({ turn: 1, body: { ...body, models: ['gpt-4o'] } });
  await upstream.untilWaiting(2);
  await expectReserved(await ask({ body }));
  upstream.answerAll();
  expect([(await cheap).status, (await dear).status]).toEqual([200, 200]);
  await nothingLeft();
});

test('what responses used beyond their reservations counts in the other process at once', async () => {
  await setTier({ monthlyTokenQuota: 1_000 });
  const usage = { prompt_tokens: 600, completion_tokens: 0, total_tokens: 600 };
  const larger = await startSlowUpstream('larger', usage);
  larger.answerAll();
  await registerBackend(gateway, { type: 'external', name: 'larger', url: larger.url });
  const body = { model: 'larger', max_tokens: 1 };
  // Known to be far from used up, so that neither of the two alone is urgent.
  await spend(1);
  expect((await ask({ body })).status).toBe(200);
  expect((await ask({ turn: 1, body })).status).toBe(200);
  await expectReserved(await ask({ body }));
  await larger.close();
});

test('what one process has served counts in the other before it is settled, and until then softly', async () => {
  await setTier({ monthlyTokenQuota: 101 });
  await spend(99);
  upstream.answerAll();
  // The answer has two tokens. They are not settled meanwhile.
  expect((await ask()).status).toBe(200);
  await expectReserved(await ask({ turn: 1 }));
  await settleServed();
  const refused = await ask({ turn: 1 });
  expect(refused.status).toBe(429);
  expect(refused.headers.get('x-should-retry')).toBe('false');
  await setTier({ monthlyTokenQuota: 102 });
  expect((await ask({ turn: 1 })).status).toBe(200);
  await nothingLeft();
});

test('what one process has served leaves the rest of the quota to the other before it is settled', async () => {
  await setTier({ monthlyTokenQuota: 103 });
  await spend(99);
  upstream.answerAll();
  // 256 tokens and the prompt were reserved, and two are used.
  expect((await ask()).status).toBe(200);
  expect((await ask({ turn: 1 })).status).toBe(200);
  await expectReserved(await ask());
  await nothingLeft();
});

test('a reservation ends with its request, however that ends', async () => {
  await setTier({ monthlyTokenQuota: 1_000 });
  await spend(1);
  const bob = await keysOf(gateway.test).create({ userId: gateway.userId, name: 'bob' });
  const left = new AbortController();
  const leaving = ask({ signal: left.signal });
  const leavingStream = ask({ signal: left.signal, body: { stream: true }, turn: 1 });
  await upstream.untilWaiting(2);
  expect((await leftOver()).length).toBeGreaterThan(0);
  left.abort();
  await expect(leaving).rejects.toThrow();
  await expect(leavingStream).rejects.toThrow();
  await nothingLeft();
  expect((await ask({ body: { model: 'missing' } })).status).toBe(404);
  expect((await ask({ body: { messages: 1 } })).status).toBe(400);
  expect((await ask({ body: { conversation_id: newId() } })).status).toBe(404);
  expect((await ask({ key: bob.secret, body: { provider: 'missing' } })).status).toBe(404);
  await nothingLeft();
});

test('the history that a response continues is reserved as well', async () => {
  await setTier({ monthlyTokenQuota: 1_000 });
  await spend(1);
  const content = [{ type: 'input_text', text: 'word '.repeat(4_000) }];
  const stored = {
    id: 'resp_long',
    userId: gateway.userId,
    previousId: null,
    createdAt: new Date(),
    expiresAt: new Date(Date.now() + 60_000),
    input: JSON.stringify([{ type: 'message', role: 'user', content }]),
    response: '{"output":[]}',
    ...NO_ITEMS,
    inputItems: 1,
  };
  await gateway.test.context.database.responses.save(stored, Number.MAX_SAFE_INTEGER);
  const more = { messages: undefined, input: 'And?', max_output_tokens: 16 };
  const body = { ...more, previous_response_id: 'resp_long' };
  const first = ask({ path: 'responses', body });
  await upstream.untilWaiting(1);
  const refused = await ask({ path: 'responses', body: more, turn: 1 });
  expect(refused.status).toBe(429);
  upstream.answerAll();
  expect((await first).status).toBe(200);
  const unknown = await ask({
    path: 'responses',
    body: { ...more, previous_response_id: 'resp_0' },
  });
  expect(unknown.status).toBe(400);
  await nothingLeft();
});

test('what a lost process reserved is free again after 15 minutes', async () => {
  await setTier({ monthlyTokenQuota: 100 });
  await spend(99);
  const lost = new AbortController();
  const inFlight = ask({ turn: 1, signal: lost.signal });
  await upstream.untilWaiting(1);
  // The request stays in flight: its reservation does not end.
  await ageCalls(CALL_KEPT_MS - 30_000);
  await expectReserved(await ask());
  await ageCalls(30_000);
  const next = ask();
  await upstream.untilWaiting(2);
  upstream.answerAll();
  expect((await next).status).toBe(200);
  expect((await inFlight).status).toBe(200);
  await nothingLeft();
});

test.each([
  { path: 'chat/completions' },
  { path: 'embeddings', body: { input: 'Hi' } },
  { path: 'completions', body: { prompt: 'Hi' } },
  { path: 'responses', body: { input: 'Hi' } },
  { path: 'messages', body: { max_tokens: 10 } },
])('a reference that is refused leaves no call in progress: $path', async ({ path, body = {} }) => {
  await setTier({ monthlyTokenQuota: 1_000 });
  const headers = { 'x-service-ref': 'x'.repeat(65) };
  expect((await ask({ path, body, headers })).status).toBe(400);
  await nothingLeft();
});

test('a user may have so many calls at a time over all keys and processes, also on an unlimited tier', async () => {
  const other = await keysOf(gateway.test).create({ userId: gateway.userId, name: 'other' });
  const inFlight = Array.from({ length: 30 }, (_, turn) =>
    ask({ turn, key: turn % 3 === 0 ? other.secret : gateway.key }),
  );
  await upstream.untilWaiting(30);
  for (const turn of [0, 1]) {
    const refused = await ask({ turn });
    expect(refused.status).toBe(429);
    expect(refused.headers.get('x-should-retry')).toBeNull();
    expect(refused.headers.get('x-ratelimit-limit-requests')).toMatch(/^\d+$/);
    expect(await refused.json()).toEqual({
      error: {
        message:
          'too many streams and calls in progress: at most 30 per user at a time. ' +
          'Try again when one has ended; an operator raises the limit with SERVICE_MAX_CALLS_PER_USER.',
        type: 'rate_limit_error',
        code: 'rate_limit_exceeded',
        param: null,
      },
    });
  }
  upstream.answerAll();
  for (const response of inFlight) expect((await response).status).toBe(200);
  expect((await ask()).status).toBe(200);
  await nothingLeft();
});
