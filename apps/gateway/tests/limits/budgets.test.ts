import type { KeySettingChanges } from '@model-gateway/accounts';
import { newId, type JournalEntry } from '@model-gateway/kernel';
import { usageEventsIn, waitUntil } from '@model-gateway/testkit';
import { startChatUpstream, type RunningChatUpstream } from '@model-gateway/testkit/upstreams';
import { keysOf, liftTier, startTwoGateways, type TwoGateways } from '../gateway.ts';

const MODEL = 'gpt-4o-mini';
const FREE = 'a-model-without-a-price';
const USD = { prompt: 0.15e-6, completion: 0.6e-6 };
const ANSWER = 'word '.repeat(100);

let upstream: RunningChatUpstream;
let gateways: TwoGateways;
let userId: string;

beforeAll(async () => {
  upstream = await startChatUpstream({ models: [MODEL, FREE], answer: () => ANSWER });
  gateways = await startTwoGateways(upstream);
  const { database } = gateways.test.context;
  await liftTier(database);
  userId = newId();
  await database.users.create({
    id: userId,
    email: 'owner@example.com',
    name: '',
    passwordHash: 'not used',
  });
});
afterAll(async () => {
  await gateways.test.close();
  await upstream.close();
});

const newKey = (settings: KeySettingChanges) =>
  keysOf(gateways.test).create({ userId, name: 'key', settings });

function ask(key: string, turn = 0, path = 'chat/completions', body: object = {}) {
  return fetch(`${gateways.urls[turn % 2 === 0 ? 0 : 1]}/v1/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: MODEL,
      messages: [{ role: 'user', content: 'Hi' }],
      max_tokens: 200,
      ...body,
    }),
  });
}

interface Answer {
  readonly usage: { readonly prompt_tokens: number; readonly completion_tokens: number };
}

/** Of a whole answer, or of a stream, whose last event says it. */
async function costOf(response: Response): Promise<number> {
  const text = await response.text();
  const last = text.split('\n\n').findLast((event) => event.includes('"usage":{'));
  const { usage } = JSON.parse(last?.replace('data: ', '') ?? text) as Answer;
  return usage.prompt_tokens * USD.prompt + usage.completion_tokens * USD.completion;
}

/** Settles what was served, as the recorder does. */
async function settleServed(): Promise<void> {
  const { database, bus } = gateways.test.context;
  const stopping = new AbortController();
  const record = async (batch: readonly JournalEntry[]): Promise<void> => {
    const events = usageEventsIn(batch);
    const { facts } = await database.usage.record(events, { pointsPerUsd: 100 });
    const settled = events.flatMap(({ call_id: id, user_id }) =>
      id === undefined ? [] : [{ id, userId: user_id }],
    );
    await bus.admission.updateHints({ ...facts, settled });
  };
  const draining = bus.journal.drain(record, { batchSize: 100, signal: stopping.signal });
  await waitUntil(async () => (await bus.journal.lag()) === 0, { what: 'an empty journal' });
  stopping.abort();
  await draining;
}

test.each([
  { what: 'requests', body: {} },
  { what: 'streams', body: { stream: true, stream_options: { include_usage: true } } },
])('200 concurrent $what on two gateways overspend a budget by at most one', async ({ body }) => {
  const budgetUsd = 0.002;
  const { key, secret } = await newKey({ budgetUsd });
  const askNext = (turn: number) => ask(secret, turn, 'chat/completions', body);
  const responses = await Promise.all(Array.from({ length: 200 }, (_, turn) => askNext(turn)));
  const served = responses.filter(({ status }) => status === 200);
  const refused = responses.filter(({ status }) => status !== 200);
  expect(refused.map(({ status }) => status)).toEqual(refused.map(() => 402));
  // Also where only reservations refuse: the client decides when it asks again.
  const retried = refused.filter(({ headers }) => headers.get('x-should-retry') !== 'false');
  expect(retried).toEqual([]);
  const texts = await Promise.all(refused.map((response) => response.text()));
  const waits = refused
    .filter((_response, index) => texts[index]?.includes('reserved'))
    .map(({ headers }) => headers.get('retry-after'));
  expect(new Set(waits)).toEqual(new Set(['5']));
  const costs = await Promise.all(served.map(costOf));
  let spent = costs.reduce((sum, cost) => sum + cost, 0);
  const most = Math.max(...costs);
  // What only reservations refused is served later, until the budget is spent.
  for (let turn = 0; ; turn += 1) {
    const response = await askNext(turn);
    if (response.status === 200) {
      spent += await costOf(response);
      continue;
    }
    const { error } = (await response.json()) as { readonly error: { readonly message: string } };
    if (error.message.includes('reserved')) continue;
    expect(response.status).toBe(402);
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(5);
    break;
  }
  expect(spent).toBeGreaterThanOrEqual(budgetUsd - 1e-9);
  expect(spent).toBeLessThan(budgetUsd + most);
  await settleServed();
  const { database } = gateways.test.context;
  const [listed] = await database.keys.list(userId, 1, new Date());
  expect(listed).toMatchObject({ id: key.id, spentUsd: expect.closeTo(spent, 12) });
  const rows = await database.usage.list({ userId, limit: 500, offset: 0 });
  const ofKey = rows.records.filter(({ keyId }) => keyId === key.id);
  const sum = ofKey.reduce((total, { cost }) => total + (cost ?? 0), 0);
  expect(listed?.spentUsd).toBeCloseTo(sum, 12);
  expect((await ask(secret)).status).toBe(402);
});

test('a spent budget is refused on every API, in its form, and a higher one lifts it', async () => {
  const { key, secret } = await newKey({ budgetUsd: 0, budgetPeriod: 'total' });
  const chat = await ask(secret);
  expect([chat.status, chat.headers.get('retry-after')]).toEqual([402, null]);
  expect(await chat.json()).toMatchObject({
    error: {
      type: 'budget_error',
      code: 'budget_exceeded',
      message:
        'the budget of this key is spent: it allows 0 USD in total. ' +
        'Its owner raises it: gateway keys update <key> --budget <usd>',
    },
  });
  const messages = await ask(secret, 0, 'messages');
  expect(messages.headers.get('x-should-retry')).toBe('false');
  expect([messages.status, await messages.json()]).toMatchObject([
    402,
    { type: 'error', error: { type: 'billing_error' } },
  ]);
  const responses = await ask(secret, 0, 'responses', { input: 'Hi', messages: undefined });
  expect([responses.status, await responses.json()]).toMatchObject([
    402,
    { error: { code: 'budget_exceeded' } },
  ]);
  const completions = await ask(secret, 0, 'completions', { prompt: 'Hi' });
  expect(completions.status).toBe(402);
  expect((await ask(secret, 0, 'embeddings', { input: 'Hi' })).status).toBe(402);
  await keysOf(gateways.test).update(userId, key.id, { settings: { budgetUsd: 1 } });
  expect((await ask(secret, 1)).status).toBe(200);
});

test('a model without a price costs nothing of a budget', async () => {
  const { key, secret } = await newKey({ budgetUsd: 0.000_001 });
  for (let turn = 0; turn < 3; turn += 1) {
    expect((await ask(secret, turn, 'chat/completions', { model: FREE })).status).toBe(200);
  }
  await settleServed();
  const listed = await gateways.test.context.database.keys.list(userId, 1, new Date());
  expect(listed).toMatchObject([{ id: key.id, spentUsd: 0 }]);
});

test('a key with a limit of tokens is refused when it is reached, with the usual headers', async () => {
  const { secret } = await newKey({ tpm: 150 });
  const first = await ask(secret);
  expect(first.status).toBe(200);
  expect(first.headers.get('x-ratelimit-limit-tokens')).toBe('150');
  await first.text();
  await ask(secret, 1);
  const refused = await ask(secret, 1);
  expect(refused.status).toBe(429);
  expect(refused.headers.get('x-ratelimit-remaining-tokens')).toBe('0');
  expect(refused.headers.get('x-ratelimit-limit-requests')).toBe(
    first.headers.get('x-ratelimit-limit-requests'),
  );
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(await refused.json()).toMatchObject({ error: { code: 'rate_limit_exceeded' } });
});
