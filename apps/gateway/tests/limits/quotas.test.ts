import { nextMonthStart, type TierChanges } from '@model-gateway/billing';
import { createAccountEvents } from '@model-gateway/accounts';
import { newId } from '@model-gateway/kernel';
import { waitUntil } from '@model-gateway/testkit';
import { startChatUpstream, type RunningChatUpstream } from '@model-gateway/testkit/upstreams';
import { groupsOf, keysOf, registerBackend, startGateway } from '../gateway.ts';
import type { GatewayUnderTest } from '../gateway.ts';

const PRICED = 'gpt-4o-mini';
const UNPRICED = 'home-grown';
const RATE = { pointsPerUsd: 100 };

let gateway: GatewayUnderTest;
let upstream: RunningChatUpstream;

beforeEach(async () => {
  gateway = await startGateway({ SERVICE_API_RATE_LIMIT_RPM: '100000' });
  upstream = await startChatUpstream({ models: [PRICED, UNPRICED] });
  await registerBackend(gateway, { type: 'external', name: 'up', url: upstream.url });
});
afterEach(async () => {
  await gateway.test.close();
  await upstream.close();
});

/** Changes the limits of the free tier like the management plane. */
async function setTier(changes: TierChanges): Promise<void> {
  const { database, bus, log } = gateway.test.context;
  await database.plans.saveTier('free', changes);
  const events = createAccountEvents({ channels: bus.channels, counters: bus.counters, log });
  await events.changed({ kind: 'tiers' });
}

/** Records usage like the recorder. */
async function spend(usage: {
  readonly tokens?: number;
  readonly cost?: number | null;
  readonly project?: string;
  readonly keyId?: string | null;
  readonly groupId?: string;
}): Promise<void> {
  const { database, bus } = gateway.test.context;
  const { tokens = 0, cost = 0, project = 'default', keyId = gateway.keyId, groupId } = usage;
  const event = {
    id: newId(),
    user_id: gateway.userId,
    key_id: keyId,
    api_key_id: 'service-',
    project: keyId === null ? null : project,
    group_id: groupId ?? null,
    model: PRICED,
    backend: 'gateway',
    prompt_tokens: tokens,
    completion_tokens: 0,
    total_tokens: tokens,
    cost,
    multiplier: 1,
    ref_id: null,
    created_at: new Date().toISOString(),
  };
  const { facts } = await database.usage.record([event], RATE);
  await bus.admission.updateHints(facts);
}

async function makeGroup(rpmCeiling?: number) {
  const { database } = gateway.test.context;
  const owner = await database.users.findById(gateway.userId);
  if (owner === undefined) throw new Error('user not found');
  const { groups } = groupsOf(gateway.test);
  const { id } = await groups.create(owner, { name: 'Team' });
  if (rpmCeiling !== undefined) await groups.update(owner, id, { rpmCeiling });
  return id;
}

async function fundWallet(points: number): Promise<void> {
  const { ledger, billingFacts } = gateway.test.context.database;
  const groupId = await makeGroup();
  await ledger.topUp({ groupId, points });
  await ledger.allocate({ groupId, points, email: 'owner@example.com' });
  const wallet = { type: 'user', id: gateway.userId } as const;
  const account = { ...wallet, ...(await billingFacts.account(wallet)) };
  await gateway.test.context.bus.admission.updateHints({ windows: [], accounts: [account] });
}

const chat = (model = PRICED, key = gateway.key): Promise<Response> =>
  fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi' }] }),
  });

async function expectRefused(
  response: Response,
  { status, type, code, message }: { status: number; type: string; code: string; message: RegExp },
) {
  expect(response.status).toBe(status);
  expect(await response.json()).toEqual({
    error: { message: expect.stringMatching(message), type, code, param: null },
  });
  const untilNextMonth = (nextMonthStart(new Date()).getTime() - Date.now()) / 1000;
  expect(Number(response.headers.get('retry-after'))).toBeGreaterThanOrEqual(untilNextMonth - 60);
  expect(Number(response.headers.get('retry-after'))).toBeLessThanOrEqual(untilNextMonth + 60);
  expect(response.headers.get('x-should-retry')).toBe('false');
}

/** Which limit it was, its value, and what lifts it. */
const LIMIT =
  "the tier '[^']+' allows [\\d.]+ (tokens|USD) per month\\. The account is owner@example\\.com, an admin\\. Set a larger tier in the console under People, or with: gateway plan set owner@example\\.com enterprise$";

const expectQuotaExceeded = (response: Response, limit = '') =>
  expectRefused(response, {
    status: 429,
    type: 'quota_error',
    code: 'quota_exceeded',
    message: new RegExp(`^monthly quota exceeded: (?=.* allows ${limit})${LIMIT}`),
  });
const expectPaymentRequired = (
  response: Response,
  reason = 'points and monthly quota are used up',
) =>
  expectRefused(response, {
    status: 402,
    type: 'insufficient_credits',
    code: 'payment_required',
    message: new RegExp(`^${reason}: ${LIMIT}`),
  });

test('the request after the last token of the month is refused, and passes immediately with a larger tier', async () => {
  await setTier({ monthlyTokenQuota: 100 });
  await spend({ tokens: 99 });
  expect((await chat()).status).toBe(200);
  await spend({ tokens: 1 });
  await expectQuotaExceeded(await chat(), '100 tokens');
  const embedded = await fetch(`${gateway.url}/v1/embeddings`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}` },
    body: JSON.stringify({ model: PRICED, input: 'x' }),
  });
  await expectQuotaExceeded(embedded);
  const storedEvents = () =>
    gateway.test.query(
      `SELECT data FROM outbox_events WHERE type = 'quota.exceeded' AND key LIKE $1`,
      [`%${gateway.userId}%`],
    );
  // Two refusals, one event for webhooks.
  await waitUntil(async () => (await storedEvents()).length > 0, { what: 'the event' });
  expect(await storedEvents()).toMatchObject([
    { data: { user_id: gateway.userId, month: new Date().toISOString().slice(0, 7) } },
  ]);
  await setTier({ monthlyTokenQuota: 10_000 });
  expect((await chat()).status).toBe(200);
});

test('the USD quota works like the token quota', async () => {
  await setTier({ monthlyUsdQuota: 1 });
  await spend({ cost: 0.6 });
  expect((await chat()).status).toBe(200);
  await spend({ cost: 0.4 });
  await expectQuotaExceeded(await chat(), '1 USD');
});

test('on a drained tier points pay for models with a price, until they are used up', async () => {
  await setTier({ monthlyTokenQuota: 10 });
  await spend({ tokens: 10 });
  await expectQuotaExceeded(await chat());
  await fundWallet(2);
  expect((await chat()).status).toBe(200);
  await expectPaymentRequired(await chat(UNPRICED));
  await spend({ cost: 0.02 });
  await expectPaymentRequired(await chat());
});

test('an account that could not cover a request on a drained tier is refused until its balance grows', async () => {
  await setTier({ monthlyTokenQuota: 10 });
  await spend({ tokens: 10 });
  await fundWallet(5);
  await spend({ cost: 0.06, tokens: 1 });
  const reason = 'the monthly quota is used up, and 5 points are left, .* of yours; .*';
  await expectPaymentRequired(await chat(), reason);
  await fundWallet(1);
  expect((await chat()).status).toBe(200);
});

test('the window of the whole user binds every key: five project labels share one quota', async () => {
  await setTier({ monthlyTokenQuota: 1_000 });
  const keys = keysOf(gateway.test);
  const labelled = await Promise.all(
    ['a', 'b', 'c', 'd', 'default'].map((project) =>
      keys.create({ userId: gateway.userId, name: project, project }),
    ),
  );
  await spend({ tokens: 600, project: 'a', keyId: labelled[0]?.key.id ?? null });
  for (const { secret } of labelled) expect((await chat(PRICED, secret)).status).toBe(200);
  await spend({ tokens: 400, keyId: null });
  for (const { secret } of labelled) await expectQuotaExceeded(await chat(PRICED, secret));
});

test('a group key draws on the pool of its group', async () => {
  await setTier({ monthlyTokenQuota: 10 });
  await spend({ tokens: 10 });
  await fundWallet(100);
  const groupId = await makeGroup();
  const team = await keysOf(gateway.test).create({ userId: gateway.userId, name: 't', groupId });
  await expectQuotaExceeded(await chat(PRICED, team.secret));
  expect((await chat()).status).toBe(200);
});

test('with a limit of ten the eleventh request within a minute is refused, never the tenth', async () => {
  await setTier({ rpm: 10 });
  const responses = await Promise.all(Array.from({ length: 20 }, () => chat()));
  const refused = responses.filter(({ status }) => status === 429);
  expect(responses.filter(({ status }) => status === 200)).toHaveLength(10);
  expect(refused).toHaveLength(10);
  for (const response of refused) {
    expect(response.headers.get('retry-after')).toBe('60');
    expect(response.headers.get('x-should-retry')).toBeNull();
    expect(await response.json()).toMatchObject({
      error: { type: 'rate_limit_error', code: 'rate_limit_exceeded' },
    });
  }
  const other = await keysOf(gateway.test).create({ userId: gateway.userId, name: 'other' });
  expect((await chat(PRICED, other.secret)).status).toBe(200);
});

test('the keys of a group share its ceiling, and an admitted request counts also when it fails later', async () => {
  const groupId = await makeGroup(3);
  const keys = keysOf(gateway.test);
  const [one, two] = await Promise.all(
    ['one', 'two'].map((name) => keys.create({ userId: gateway.userId, name, groupId })),
  );
  expect((await chat(PRICED, one?.secret)).status).toBe(200);
  expect((await chat(PRICED, two?.secret)).status).toBe(200);
  expect((await chat('missing-model', two?.secret)).status).toBe(404);
  const limited = await chat(PRICED, one?.secret);
  expect(limited.status).toBe(429);
  expect(limited.headers.get('retry-after')).toBe('60');
  expect(await limited.json()).toMatchObject({ error: { code: 'rate_limit_exceeded' } });
  expect((await chat()).status).toBe(200);
});
