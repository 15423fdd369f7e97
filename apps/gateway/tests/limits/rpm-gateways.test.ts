import { newId } from '@model-gateway/kernel';
import { fullSize, waitUntil } from '@model-gateway/testkit';
import { startChatUpstream, type RunningChatUpstream } from '@model-gateway/testkit/upstreams';
import { keysOf, startTwoGateways, type TwoGateways } from '../gateway.ts';

const FREE_RPM = 10;
const GROUP_RPM = 7;
const KEYS = fullSize(5, { small: 2 });

let upstream: RunningChatUpstream;
let gateways: TwoGateways;

beforeAll(async () => {
  upstream = await startChatUpstream({ models: ['demo-chat', 'other-chat'] });
  gateways = await startTwoGateways(upstream);
});

afterAll(async () => {
  await gateways.test.close();
  await upstream.close();
});

const stores = () => gateways.test.context.database;

async function newUser(becomesAdmin: 'always' | 'never' = 'never'): Promise<string> {
  const id = newId();
  const email = `${id}@example.com`;
  const account = { id, email, name: '', passwordHash: 'not used', becomesAdmin };
  await stores().users.create(account);
  return id;
}

/** A key of a new user, who is on the free tier. */
async function newKey(groupId?: string): Promise<string> {
  const userId = await newUser();
  if (groupId !== undefined) await stores().members.save(groupId, userId, {});
  const { secret } = await keysOf(gateways.test).create({ userId, name: 'key', groupId });
  return secret;
}

async function newGroup(rpmCeiling: number): Promise<string> {
  const id = newId();
  await stores().groups.create({ id, ownerId: await newUser(), name: 'group', description: '' });
  await stores().groups.update(id, { rpmCeiling });
  return id;
}

/** Sends requests to the two gateways in turn. */
function ask(key: string, turn: number, model = 'demo-chat'): Promise<Response> {
  const url = gateways.urls[turn % 2 === 0 ? 0 : 1];
  return fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi' }] }),
  });
}

const passed = (responses: readonly Response[]): number =>
  responses.filter(({ status }) => status === 200).length;

test('of a free key the 10th request within a minute passes and the 11th is refused, on either gateway', async () => {
  const userId = await newUser();
  const { secret: key } = await keysOf(gateways.test).create({ userId, name: 'key' });
  const statuses: number[] = [];
  for (let turn = 0; turn < FREE_RPM + 2; turn += 1) statuses.push((await ask(key, turn)).status);
  expect(statuses).toEqual([...Array.from({ length: FREE_RPM }, () => 200), 429, 429]);
  const refused = await ask(key, 0);
  expect(refused.headers.get('retry-after')).toBe('60');
  expect(refused.headers.get('x-ratelimit-limit-requests')).toBe(String(FREE_RPM));
  expect(refused.headers.get('x-ratelimit-remaining-requests')).toBe('0');
  const message =
    'rate limit exceeded: your tier allows 10 requests per minute. ' +
    `The tier 'free' sets this limit. The account is ${userId}@example.com. Ask an admin of this gateway for a larger tier.`;
  expect(await refused.json()).toMatchObject({ error: { code: 'rate_limit_exceeded', message } });
});

test('an admin is told the command that lifts the limit of that very account', async () => {
  const userId = await newUser('always');
  const { secret } = await keysOf(gateways.test).create({ userId, name: 'key' });
  for (let turn = 0; turn < FREE_RPM; turn += 1) await ask(secret, turn);
  const { error } = (await (await ask(secret, 0)).json()) as { error: { message: string } };
  expect(error.message).toMatch(`with: gateway plan set ${userId}@example.com enterprise`);
  expect(error.message).toMatch('in the console under People');
});

test('the lower limit of a key decides, and says that it is its own', async () => {
  const userId = await newUser();
  const settings = { rpm: 2, models: ['demo-*'] };
  const { secret } = await keysOf(gateways.test).create({ userId, name: 'key', settings });
  const statuses: number[] = [];
  for (let turn = 0; turn < 3; turn += 1) statuses.push((await ask(secret, turn)).status);
  expect(statuses).toEqual([200, 200, 429]);
  const refused = await ask(secret, 0);
  expect(refused.headers.get('x-ratelimit-limit-requests')).toBe('2');
  const message =
    'rate limit exceeded: this key allows 2 requests per minute. ' +
    'Its rpm sets this limit. Its owner raises it: gateway keys update <key> --rpm <count>';
  expect(await refused.json()).toMatchObject({ error: { code: 'rate_limit_exceeded', message } });
});

test('a key with a list of models can use and see no others, on every surface', async () => {
  const userId = await newUser();
  const settings = { models: ['demo-*'] };
  const { secret } = await keysOf(gateways.test).create({ userId, name: 'key', settings });
  const post = (path: string, body: object) =>
    fetch(`${gateways.urls[0]}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const messages = [{ role: 'user', content: 'Hi' }];
  const model = 'other-chat';
  const refused = await Promise.all([
    post('/v1/chat/completions', { model, messages }),
    post('/v1/messages', { model, messages, max_tokens: 10 }),
    post('/v1/responses', { model, input: 'Hi' }),
    post('/v1/embeddings', { model, input: 'Hi' }),
    post('/v1/completions', { model, prompt: 'Hi' }),
    post('/v1/video/generations', { model, prompt: 'Hi' }),
  ]);
  expect(refused.map(({ status }) => status)).toEqual(refused.map(() => 403));
  expect(await refused[0]?.json()).toMatchObject({
    error: { code: 'model_not_allowed', message: 'this key does not allow the model: other-chat' },
  });
  expect(await refused[1]?.json()).toMatchObject({ error: { type: 'permission_error' } });
  // A fallback that the key does not allow is left out.
  const fallback = { model: 'demo-chat', models: [model], messages };
  expect((await post('/v1/chat/completions', fallback)).status).toBe(200);
  expect((await post('/v1/chat/completions', { model: 'demo-chat', messages })).status).toBe(200);
  const listed = await fetch(`${gateways.urls[0]}/v1/models`, {
    headers: { authorization: `Bearer ${secret}` },
  });
  const { data } = (await listed.json()) as { readonly data: readonly { readonly id: string }[] };
  expect(data.map(({ id }) => id)).toEqual(['demo-chat']);
});

function expectLeft({ headers }: Response, requests: number): void {
  const fact = (name: string) => headers.get(`x-ratelimit-${name}`);
  // The tier is tighter than the limit of the process.
  expect([fact('limit-requests'), fact('remaining-requests')]).toEqual(['10', String(requests)]);
  expect(fact('reset-requests')).toMatch(/^\d\ds$/);
  expect(fact('limit-tokens')).toBe('100000');
  expect(Number(fact('remaining-tokens'))).toBeGreaterThan(99_000);
  expect(fact('reset-tokens')).toMatch(/^\d+s$/);
}

test('answers say what is left of the requests per minute and of the tokens of the month', async () => {
  const key = await newKey();
  expectLeft(await ask(key, 0), 9);
  // What the other gateway has counted counts.
  expectLeft(await ask(key, 1), 8);
  for (let turn = 2; turn < FREE_RPM; turn += 1) await ask(key, turn);
  const refused = await ask(key, 0);
  expect(refused.status).toBe(429);
  expectLeft(refused, 0);
});

test.each([
  { why: 'a body that is not valid', body: { model: 'demo-chat' }, status: 400 },
  {
    why: 'an unknown model',
    body: { model: 'none', messages: [{ role: 'user', content: 'Hi' }] },
    status: 404,
  },
])('the first answer to a key says it too, also to $why', async ({ body, status }) => {
  const response = await fetch(`${gateways.urls[0]}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${await newKey()}` },
    body: JSON.stringify(body),
  });
  expect(response.status).toBe(status);
  expectLeft(response, 9);
});

test('the remaining requests are those of the tightest limit, which may be that of the group', async () => {
  const group = await newGroup(GROUP_RPM);
  const [one, other] = [await newKey(group), await newKey(group)];
  await ask(one, 0);
  const { headers } = await ask(other, 1);
  expect(headers.get('x-ratelimit-limit-requests')).toBe(String(GROUP_RPM));
  expect(headers.get('x-ratelimit-remaining-requests')).toBe(String(GROUP_RPM - 2));
});

test('of many concurrent requests on two gateways exactly the limit of the tier passes, for each key', async () => {
  const keys = await Promise.all(Array.from({ length: KEYS }, () => newKey()));
  await Promise.all(
    keys.map(async (key) => {
      const turns = Array.from({ length: 3 * FREE_RPM }, (_, turn) => ask(key, turn));
      expect(passed(await Promise.all(turns))).toBe(FREE_RPM);
    }),
  );
});

test('the ceiling of a group holds for all its keys together, on all gateways', async () => {
  const group = await newGroup(GROUP_RPM);
  const [one, other] = [await newKey(group), await newKey(group)];
  const turns = Array.from({ length: 20 }, (_, turn) => ask(turn % 3 === 0 ? one : other, turn));
  const responses = await Promise.all(turns);
  expect(passed(responses)).toBe(GROUP_RPM);
  const refused = responses.find(({ status }) => status === 429);
  expect(await refused?.text()).toContain('your group allows 7 requests per minute');
});

test('a rate limit of an upstream is about one model on all gateways, and changes nothing else for any tenant', async () => {
  const [one, other] = [await newKey(), await newKey()];
  const limit = { kind: 'status', status: 429, retryAfterSecs: 50 } as const;
  upstream.faults.next(limit);
  const first = await ask(one, 0);
  expect([first.status, first.headers.get('retry-after')]).toEqual([502, '50']);
  await waitUntil(async () => (await ask(one, 1)).status === 429, {
    what: 'the other gateway to learn of the rate limit',
  });
  const asked = upstream.requestCount;
  for (const turn of [0, 1]) {
    const cooling = await ask(other, turn);
    expect(cooling.status).toBe(429);
    expect(Number(cooling.headers.get('retry-after'))).toBeLessThanOrEqual(50);
    expect(await cooling.json()).toMatchObject({
      error: { type: 'rate_limit_error', code: 'rate_limit_exceeded' },
    });
    for (const key of [one, other]) {
      expect((await ask(key, turn, 'other-chat')).status).toBe(200);
    }
  }
  expect(upstream.requestCount).toBe(asked + 4);
});
