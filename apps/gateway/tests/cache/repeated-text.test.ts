import { newId } from '@model-gateway/kernel';
import { RETRY_REASONS } from '@model-gateway/router';
import { waitUntil } from '@model-gateway/testkit';
import { startChatUpstream, type RunningChatUpstream } from '@model-gateway/testkit/upstreams';
import {
  admin,
  keysOf,
  liftTier,
  registerBackend,
  startGateway,
  usersOf,
  type GatewayUnderTest,
} from '../gateway.ts';
import { takeUsage } from '../money/usage-journal.ts';

let gateway: GatewayUnderTest;
let upstream: RunningChatUpstream;

beforeAll(async () => {
  gateway = await startGateway({ SERVICE_API_RATE_LIMIT_RPM: '100000' });
  upstream = await startChatUpstream({ models: ['m', 'n'] });
  await registerBackend(gateway, { type: 'external', name: 'one', url: upstream.url });
});
afterAll(async () => {
  await gateway.test.close();
  await upstream.close();
});

interface Asked {
  readonly text: string;
  readonly secret: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

function ask({ text, secret, path = 'chat/completions', headers }: Asked): Promise<Response> {
  return fetch(`${gateway.url}/v1/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, ...headers },
    body: text,
  });
}

/** What the cache did, or the status of a refusal. */
async function outcome(asked: Asked): Promise<string | number | null> {
  const response = await ask(asked);
  await response.text();
  return response.status === 200 ? response.headers.get('x-service-cache') : response.status;
}

async function createKey(settings: object, userId = gateway.userId) {
  const { key, secret } = await keysOf(gateway.test).create({ userId, name: 'k', settings });
  return { id: key.id, secret };
}

async function createUser(): Promise<string> {
  const person = { id: newId(), email: `${newId()}@example.com`, name: '', passwordHash: '-' };
  await gateway.test.context.database.users.create(person);
  return person.id;
}

const CACHED = { cacheTtlSecs: 3_600 };

/** A text that was answered from the cache before, so that it is not parsed again. */
async function repeatedText(secret: string, model = 'm'): Promise<string> {
  const messages = [{ role: 'user', content: `Hi ${newId()} – ü` }];
  const text = JSON.stringify({ model, messages, max_tokens: 9, top_p: 0.5 });
  for (const expected of ['miss', 'hit', 'hit', 'hit'])
    expect(await outcome({ text, secret })).toBe(expected);
  return text;
}

test('each answer is the first one, with a row and an id of its own', async () => {
  const { secret } = await createKey(CACHED);
  const text = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: newId() }] });
  const answers: string[] = [];
  const ids: (string | null)[] = [];
  const before = upstream.totals.requests;
  for (let count = 0; count < 4; count += 1) {
    const response = await ask({ text, secret });
    answers.push(await response.text());
    ids.push(response.headers.get('x-request-id'));
  }
  expect(new Set(answers).size).toBe(1);
  expect(upstream.totals.requests).toBe(before + 1);
  const rows = await takeUsage(gateway.test.context.bus.journal, 4);
  expect(rows.map(({ id }) => id)).toEqual(ids);
  expect(rows.map(({ cached = false, cost }) => [cached, cost === 0])).toEqual([
    [false, false],
    [true, true],
    [true, true],
    [true, true],
  ]);
});

test('another tenant, a key without the cache and another API are served anew, with the whole body', async () => {
  const { secret } = await createKey(CACHED);
  const text = await repeatedText(secret);
  const sent = { ...(JSON.parse(text) as object) };
  const ofOther = await createKey(CACHED, await createUser());
  expect(await outcome({ text, secret: ofOther.secret })).toBe('miss');
  expect(upstream.requests.at(-1)?.body).toMatchObject(sent);
  expect(await outcome({ text, secret: gateway.key })).toBeNull();
  expect(upstream.requests.at(-1)?.body).toMatchObject(sent);
  expect(await outcome({ text, secret, path: 'messages' })).toBe('miss');
  expect(await outcome({ text, secret })).toBe('hit');
});

test.each([
  ['no-cache', { 'x-service-cache': 'no-cache' }, 'miss'],
  ['no-store', { 'x-service-cache': 'no-store' }, 'bypass'],
  ['a session', { 'x-session-id': 'one' }, 'bypass'],
  ['an invalid header', { 'x-service-cache': 'on' }, 400],
])('a header still decides: %s', async (_name, headers, expected) => {
  const { secret } = await createKey(CACHED);
  const text = await repeatedText(secret);
  const before = upstream.totals.requests;
  expect(await outcome({ text, secret, headers })).toBe(expected);
  expect(upstream.totals.requests).toBe(before + (expected === 400 ? 0 : 1));
  expect(await outcome({ text, secret })).toBe('hit');
});

test('every character of a text counts', async () => {
  const { secret } = await createKey(CACHED);
  const text = await repeatedText(secret);
  for (const [from, to] of [
    ['"max_tokens":9', '"max_tokens":8'],
    ['"model":"m"', '"model":"n"'],
    ['0.5}', '0.50001}'],
    ['Hi', 'hi'],
  ] as const)
    expect(await outcome({ text: text.replace(from, to), secret })).toBe('miss');
  // The same request in other characters.
  expect(await outcome({ text: text.replace('0.5}', '0.50 }'), secret })).toBe('hit');
  expect(await outcome({ text: `${text}x`, secret })).toBe(400);
});

test('an alias and a route are followed anew', async () => {
  const { secret } = await createKey(CACHED);
  await admin(gateway, 'POST', 'aliases', { alias: 'nick', target: 'm' });
  const text = await repeatedText(secret, 'nick');
  await admin(gateway, 'POST', 'aliases', { alias: 'nick', target: 'n' });
  expect(await outcome({ text, secret })).toBe('miss');
  expect(upstream.requests.at(-1)?.body).toMatchObject({ model: 'n' });

  const { database, bus } = gateway.test.context;
  const direct = await repeatedText(secret);
  const targets = [{ model: 'n', priority: 0, weight: 1 }];
  await database.routeRules.set({ model: 'm', targets, attempts: 2, retryOn: RETRY_REASONS });
  await bus.channels.publish('routes', 'm');
  await waitUntil(async () => (await outcome({ text: direct, secret })) === 'miss');
  expect(upstream.requests.at(-1)?.body).toMatchObject({ model: 'n' });
  await database.routeRules.remove('m');
  await bus.channels.publish('routes', 'm');
  await waitUntil(async () => {
    const response = await ask({ text: direct, secret });
    await response.text();
    return response.headers.get('x-service-route') === 'm@one';
  });
});

describe('a hit is refused', () => {
  test('once its key is revoked', async () => {
    const { id, secret } = await createKey(CACHED);
    const text = await repeatedText(secret);
    await keysOf(gateway.test).revoke(gateway.userId, id);
    expect(await outcome({ text, secret })).toBe(401);
  });

  test('once its user is deactivated', async () => {
    const userId = await createUser();
    const { secret } = await createKey(CACHED, userId);
    const text = await repeatedText(secret);
    await usersOf(gateway.test).update(userId, { isActive: false });
    expect(await outcome({ text, secret })).toBe(401);
  });

  test('where the key may not use the model, or has no requests left', async () => {
    const { secret } = await createKey(CACHED);
    const text = await repeatedText(secret);
    const restricted = await createKey({ ...CACHED, models: ['n'] });
    expect(await outcome({ text, secret: restricted.secret })).toBe(403);
    const limited = await createKey({ ...CACHED, rpm: 1 });
    expect(await outcome({ text, secret: limited.secret })).toBe('hit');
    expect(await outcome({ text, secret: limited.secret })).toBe(429);
  });

  test('once the quota of its tier is used up', async () => {
    const userId = await createUser();
    const { secret } = await createKey(CACHED, userId);
    const text = await repeatedText(secret);
    const { plans } = gateway.test.context.database;
    await plans.saveTier('free', { monthlyUsdQuota: 0, monthlyTokenQuota: 0, rpm: null });
    await usersOf(gateway.test).update(userId, { isActive: true });
    expect(await outcome({ text, secret })).toBe(429);
    await liftTier(gateway.test.context.database);
  });
});
