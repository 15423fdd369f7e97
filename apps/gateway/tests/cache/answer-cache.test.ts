import { newId } from '@model-gateway/kernel';
import { RETRY_REASONS, type RouteRule } from '@model-gateway/router';
import { readStream, waitUntil } from '@model-gateway/testkit';
import { startChatUpstream, type RunningChatUpstream } from '@model-gateway/testkit/upstreams';
import { createGateway } from '../../src/app.ts';
import { readGatewayConfig } from '../../src/config.ts';
import { admin, groupsOf, keysOf, registerBackend, startGateway } from '../gateway.ts';
import type { GatewayUnderTest } from '../gateway.ts';
import { takeUsage } from '../money/usage-journal.ts';

let gateway: GatewayUnderTest;
let upstream: RunningChatUpstream;
let key: string;

beforeAll(async () => {
  gateway = await startGateway({
    SERVICE_API_RATE_LIMIT_RPM: '100000',
    SERVICE_BREAKER_FAILURES: '1000',
    SERVICE_MAX_BODY_BYTES: '3000000',
  });
  upstream = await startChatUpstream({ models: ['m', 'n'] });
  const capabilities = ['chat', 'embeddings', 'completions'];
  const backend = { type: 'external', name: 'one', url: upstream.url, capabilities };
  await registerBackend(gateway, backend);
  key = await keyWith({ cacheTtlSecs: 3_600 });
});
afterEach(() => upstream.faults.clear());
afterAll(async () => {
  await gateway.test.close();
  await upstream.close();
});

const keyWith = async (
  settings: object,
  more: { readonly userId?: string; readonly groupId?: string } = {},
): Promise<string> => {
  const { userId } = gateway;
  const { secret } = await keysOf(gateway.test).create({ userId, name: 'k', settings, ...more });
  return secret;
};

interface AskOptions {
  readonly key?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

function ask(body: object | string, { key: secret = key, path, headers }: AskOptions = {}) {
  return fetch(`${gateway.url}/v1/${path ?? 'chat/completions'}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

/** A question that no other test asks. */
const question = (more: object = {}) => ({
  model: 'm',
  messages: [{ role: 'user', content: `Hi ${newId()}` }],
  ...more,
});

/** What the cache did, and the text of the answer. */
async function outcome(...args: Parameters<typeof ask>): Promise<readonly [string | null, string]> {
  const response = await ask(...args);
  return [response.headers.get('x-service-cache'), (await readStream(response)).text];
}

const state = async (...args: Parameters<typeof ask>) => (await outcome(...args))[0];
const calls = () => upstream.totals.requests;
const rows = (count: number) => takeUsage(gateway.test.context.bus.journal, count);
const metric = async (result: string): Promise<number> => {
  const text = await gateway.test.context.metrics.expose();
  return Number(
    new RegExp(`service_answer_cache_total\\{result="${result}"\\} (\\d+)`).exec(text)?.[1] ?? 0,
  );
};

test('without a setting nothing is stored, and no header turns the cache on', async () => {
  const asked = question();
  const before = calls();
  const headers = { 'x-service-cache': 'ttl=60' };
  expect(await state(asked, { key: gateway.key, headers })).toBeNull();
  expect(await state(asked, { key: gateway.key, headers })).toBeNull();
  expect(calls()).toBe(before + 2);
});

test('an equal request gets the same answer, costs nothing and asks no upstream', async () => {
  const asked = question({ model: 'm', temperature: 0.5 });
  const hits = await metric('hit');
  const first = await ask(asked);
  const text = await first.text();
  expect(first.headers.get('x-service-cache')).toBe('miss');
  const before = calls();
  // The order of its fields does not matter.
  const { messages, ...others } = asked;
  const second = await ask({ ...others, messages }, { headers: { 'x-service-ref': 'again' } });
  expect(await second.text()).toBe(text);
  expect(calls()).toBe(before);
  expect(Object.fromEntries(second.headers)).toMatchObject({
    'x-service-cache': 'hit',
    'x-service-backend': 'one',
    'x-service-route': 'm@one',
    'x-service-memory': 'disabled',
    'content-type': first.headers.get('content-type'),
    'x-ratelimit-limit-requests': first.headers.get('x-ratelimit-limit-requests'),
  });
  expect(second.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'));
  expect(await metric('hit')).toBe(hits + 1);
  const metered = await rows(4);
  expect(metered.at(-2)).toMatchObject({ upstream: 'one', model: 'm' });
  expect(metered.at(-2)?.cached).toBeUndefined();
  const row = metered.at(-1);
  expect(row).toMatchObject({
    cached: true,
    cost: 0,
    total_tokens: 0,
    ref_id: 'again',
    model: 'm',
  });
  expect(row).toMatchObject({ id: second.headers.get('x-request-id'), status: 200 });
  expect(row?.upstream).toBeUndefined();
});

test('a stream is stored when it is complete, and replayed as a stream', async () => {
  const asked = question({ stream: true, stream_options: { include_usage: true } });
  const [missed, text] = await outcome(asked);
  const before = calls();
  const again = await ask(asked);
  expect([missed, again.headers.get('x-service-cache')]).toEqual(['miss', 'hit']);
  expect(again.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
  expect(await again.text()).toBe(text);
  expect(text).toMatch(/data: \[DONE\]\n\n$/);
  expect(calls()).toBe(before);
  // The whole answer to the same question is another one.
  expect(await state({ ...asked, stream: false })).toBe('miss');
});

describe('another request is never answered', () => {
  test.each([
    ['model', { model: 'n' }],
    ['parameter', { temperature: 0.1 }],
    ['list of models', { models: ['n'] }],
    ['seed', { seed: 1 }],
    ['message', { messages: [{ role: 'user', content: 'Bye' }] }],
  ])('with another %s', async (_name, change) => {
    const asked = question();
    expect(await state(asked)).toBe('miss');
    expect(await state({ ...asked, ...change })).toBe('miss');
    expect(await state(asked)).toBe('hit');
  });

  test('of another tenant; keys of one group share', async () => {
    const asked = question();
    const other = await gateway.test.context.database.users.create({
      id: newId(),
      email: `${newId()}@example.com`,
      name: 'Other',
      passwordHash: 'not used',
    });
    const { groups } = groupsOf(gateway.test);
    const owner = await gateway.test.context.database.users.findById(gateway.userId);
    if (owner === undefined) throw new Error('user not found');
    const group = await groups.create(owner, { name: 'Team' });
    const settings = { cacheTtlSecs: 60 };
    const { userId } = gateway;
    const inGroup = { userId, groupId: group.id };
    expect(await state(asked)).toBe('miss');
    expect(await state(asked, { key: await keyWith(settings) })).toBe('hit');
    const ofOther = await keyWith(settings, { userId: other.id });
    expect(await state(asked, { key: ofOther })).toBe('miss');
    const ofGroup = [await keyWith(settings, inGroup), await keyWith(settings, inGroup)];
    expect(await state(asked, { key: ofGroup[0] ?? '' })).toBe('miss');
    expect(await state(asked, { key: ofGroup[1] ?? '' })).toBe('hit');
  });

  test('when its alias has another target', async () => {
    const asked = question({ model: 'nick' });
    await admin(gateway, 'POST', 'aliases', { alias: 'nick', target: 'm' });
    expect(await state(asked)).toBe('miss');
    expect(await state(asked)).toBe('hit');
    await admin(gateway, 'POST', 'aliases', { alias: 'nick', target: 'n' });
    expect(await state(asked)).toBe('miss');
  });

  test('by another API', async () => {
    const asked = question({ max_tokens: 9 });
    expect(await state(asked)).toBe('miss');
    expect(await state(asked, { path: 'messages' })).toBe('miss');
    expect(await state(asked, { path: 'messages' })).toBe('hit');
    const flags = { 'anthropic-beta': 'something-2026' };
    expect(await state(asked, { path: 'messages', headers: flags })).toBe('miss');
  });
});

describe('a request that depends on more', () => {
  test.each([
    ['a session', question(), { headers: { 'x-session-id': 'a' } }],
    ['a stored completion', question({ store: true }), {}],
    ['a stored response', { model: 'm', input: 'Hi' }, { path: 'responses' }],
    ['no-store', question(), { headers: { 'x-service-cache': 'no-store' } }],
  ])('is not cached: %s', async (_name, asked, more) => {
    expect(await state(asked, more)).toBe('bypass');
    expect(await state(asked, more)).toBe('bypass');
  });

  test('is not cached: a conversation', async () => {
    const { conversations } = gateway.test.context.database;
    const conversation = await conversations.create({
      id: newId(),
      userId: gateway.userId,
      title: 'Talk',
    });
    const asked = question({ conversation_id: conversation.id });
    expect(await state(asked)).toBe('bypass');
    expect(await state(asked)).toBe('bypass');
  });
});

test('other APIs have it too', async () => {
  const cases = [
    ['embeddings', { model: 'm', input: newId() }],
    ['completions', { model: 'm', prompt: newId() }],
    ['completions', { model: 'm', prompt: newId(), stream: true }],
    ['responses', { model: 'm', input: newId(), store: false }],
    ['responses', { model: 'm', input: newId(), store: false, stream: true }],
    ['messages', { ...question({ max_tokens: 9 }), stream: true }],
  ] as const;
  for (const [path, body] of cases) {
    const [missed, text] = await outcome(body, { path });
    const before = calls();
    expect([path, missed, ...(await outcome(body, { path }))]).toEqual([path, 'miss', 'hit', text]);
    expect(calls()).toBe(before);
  }
});

describe('what is not stored', () => {
  test.each(['cut', 'error-chunk'] as const)('a stream with the fault %s', async (kind) => {
    const asked = question({ stream: true });
    upstream.faults.next({ kind, afterChunks: 3 }, 1, 'chat');
    expect(await state(asked)).toBe('miss');
    expect(await state(asked)).toBe('miss');
    expect(await state(asked)).toBe('hit');
  });

  test('an error', async () => {
    const asked = question();
    upstream.faults.next({ kind: 'status', status: 500 }, 2, 'chat');
    const failed = await ask(asked);
    expect([failed.status, failed.headers.get('x-service-cache')]).toEqual([502, 'miss']);
    await failed.text();
    expect(await state(asked)).toBe('miss');
  });

  test('a stream whose client left', async () => {
    const asked = question({ stream: true });
    upstream.faults.next({ kind: 'stall', afterChunks: 2 }, 1, 'chat');
    const leaving = new AbortController();
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify(asked),
      signal: leaving.signal,
    });
    await response.body?.getReader().read();
    const before = upstream.aborted;
    leaving.abort();
    await waitUntil(() => upstream.aborted > before);
    expect(await state(asked)).toBe('miss');
  });

  test('an answer that is too large', async () => {
    const asked = question({ stream: true });
    const before = await metric('too_large');
    upstream.faults.next({ kind: 'huge-chunk', bytes: 1_500_000 }, 1, 'chat');
    expect(await state(asked)).toBe('miss');
    expect(await metric('too_large')).toBe(before + 1);
    expect(await state(asked)).toBe('miss');
  });
});

describe('a hit still passes', () => {
  test('the key, its limit of requests and the models it may use', async () => {
    const asked = question();
    expect(await state(asked)).toBe('miss');
    const limited = await keyWith({ cacheTtlSecs: 60, rpm: 1 });
    expect(await state(asked, { key: limited })).toBe('hit');
    expect((await ask(asked, { key: limited })).status).toBe(429);
    const restricted = await keyWith({ cacheTtlSecs: 60, models: ['n'] });
    expect((await ask(asked, { key: restricted })).status).toBe(403);
    const keys = keysOf(gateway.test);
    const settings = { cacheTtlSecs: 60 };
    const { key: revoked, secret } = await keys.create({
      userId: gateway.userId,
      name: 'revoked',
      settings,
    });
    expect(await state(asked, { key: secret })).toBe('hit');
    await keys.revoke(gateway.userId, revoked.id);
    expect((await ask(asked, { key: secret })).status).toBe(401);
  });

  test('and holds nothing of a budget', async () => {
    const asked = question();
    expect(await state(asked)).toBe('miss');
    const tight = await keyWith({ cacheTtlSecs: 60, budgetUsd: 1, tpm: 10_000 });
    for (let count = 0; count < 20; count += 1)
      expect(await state({ ...asked, max_tokens: undefined }, { key: tight })).toBe('hit');
  });
});

describe('how old an answer may be', () => {
  test('no-cache asks again and stores the new answer', async () => {
    const asked = question();
    await state(asked);
    const before = calls();
    const [refreshed, text] = await outcome(asked, { headers: { 'x-service-cache': 'no-cache' } });
    expect([refreshed, calls()]).toEqual(['miss', before + 1]);
    expect(await outcome(asked)).toEqual(['hit', text]);
  });

  test('a request says how old, and never more than its key', async () => {
    const asked = question();
    const hour = { headers: { 'x-service-cache': 'ttl=3600' } };
    const second = { headers: { 'x-service-cache': 'ttl=1' } };
    const short = await keyWith({ cacheTtlSecs: 1 });
    expect(await state(asked)).toBe('miss');
    expect(await state(asked, hour)).toBe('hit');
    await waitUntil(async () => (await state(asked, { key: short, ...hour })) === 'miss');
    await waitUntil(async () => (await state(asked, second)) === 'miss');
  });

  test('a header that says something else is refused', async () => {
    const refused = await ask(question(), { headers: { 'x-service-cache': 'yes' } });
    expect(refused.status).toBe(400);
    expect(await refused.text()).toContain('x-service-cache');
  });
});

test('a route has it for every key', async () => {
  const { database, bus } = gateway.test.context;
  const targets = [{ model: 'm', priority: 0, weight: 1 }];
  const set = async (rule: Partial<RouteRule>) => {
    const others = { attempts: 2, retryOn: RETRY_REASONS };
    await database.routeRules.set({ model: 'best', targets, ...others, ...rule });
    await bus.channels.publish('routes', 'best');
  };
  await set({ cacheTtlSecs: 60 });
  const listed = `${gateway.url}/v1/models/best`;
  const headers = { authorization: `Bearer ${gateway.key}` };
  await waitUntil(async () => (await fetch(listed, { headers })).status === 200);
  const asked = question({ model: 'best' });
  expect(await state(asked, { key: gateway.key })).toBe('miss');
  expect(await state(asked, { key: gateway.key })).toBe('hit');
  // An answer of the targets before is not one of the new targets.
  await set({ cacheTtlSecs: 60, targets: [{ model: 'n', priority: 0, weight: 1 }] });
  await waitUntil(async () => {
    const answer = await ask(question({ model: 'best' }), { key: gateway.key });
    await answer.text();
    return answer.headers.get('x-service-route') === 'n@one';
  });
  expect(await state(asked, { key: gateway.key })).toBe('miss');
});

test('two gateways share the answers', async () => {
  const { test: testContext, userId } = gateway;
  const config = readGatewayConfig({
    DATABASE_URL: 'postgres://unused',
    REDIS_URL: 'redis://unused',
    SERVICE_API_RATE_LIMIT_RPM: '100000',
  });
  const peer = await testContext.openPeer();
  const url = await testContext.serve(createGateway(config, peer));
  const { secret } = await keysOf(testContext).create({
    userId,
    name: 'shared',
    settings: { cacheTtlSecs: 60 },
  });
  const stored = await metric('stored');
  const asked = question();
  const [missed, text] = await outcome(asked, { key: secret });
  expect(missed).toBe('miss');
  await waitUntil(async () => (await metric('stored')) > stored);
  const before = calls();
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}` },
    body: JSON.stringify(asked),
  });
  expect(response.headers.get('x-service-cache')).toBe('hit');
  expect([await response.text(), calls()]).toEqual([text, before]);
});
