import { createAccessTokens } from '@model-gateway/accounts';
import { rpcMethods } from '@model-gateway/contracts';
import { newId } from '@model-gateway/kernel';
import { waitUntil, type TestAccount } from '@model-gateway/testkit';
import { ADMIN_TOKEN, startRpc, type RpcServer } from '../rpc-server.ts';

let rpc: RpcServer;
let admin: TestAccount;
let user: { readonly id: string; readonly email: string; readonly token: string };

beforeAll(async () => {
  rpc = await startRpc({ POINTS_PER_USD: '200' });
  admin = await rpc.createAccount('admin@example.com');
});
afterAll(() => rpc.test.close());
beforeEach(async () => {
  const { database, jwtSecret, clock } = rpc.test.context;
  const id = newId();
  const email = `${id}@example.com`;
  await database.users.create({ id, email, name: '', passwordHash: 'none' });
  const tokens = createAccessTokens({ secret: jwtSecret, expiresInSecs: 900, clock });
  user = { id, email, token: tokens.sign(id) };
});

const TIERS = [
  { name: 'free', monthly_usd_quota: 1, monthly_token_quota: 100_000, rpm: 10 },
  { name: 'pro', monthly_usd_quota: 20, monthly_token_quota: 5_000_000, rpm: 120 },
  { name: 'enterprise', monthly_usd_quota: null, monthly_token_quota: null, rpm: 1000 },
];

const set = (method: string, params: object) => rpc.call(method, params, ADMIN_TOKEN);
const plan = async () =>
  rpcMethods['billing.plan'].result.parse((await rpc.call('billing.plan', {}, user.token)).result);

/** Writes a row as if a request had just been served. */
async function use(tokens: number, cost: number | null, createdAt = new Date()): Promise<void> {
  const event = {
    id: newId(),
    user_id: user.id,
    key_id: null,
    api_key_id: `jwt-${user.id}`,
    project: null,
    group_id: null,
    model: 'gpt-4o',
    backend: 'rpc',
    prompt_tokens: tokens,
    completion_tokens: 0,
    total_tokens: tokens,
    cost,
    multiplier: 1,
    ref_id: null,
    created_at: createdAt.toISOString(),
  };
  await rpc.test.context.database.usage.record([event], { pointsPerUsd: 200 });
}

async function fund(points: number): Promise<void> {
  const { groups, ledger } = rpc.test.context.database;
  const groupId = newId();
  await groups.create({ id: groupId, ownerId: user.id, name: 'g', description: '' });
  await ledger.topUp({ groupId, points });
  await ledger.allocate({ groupId, email: user.email, points });
}

describe('billing.plan', () => {
  it('of a new user shows the whole free tier', async () => {
    expect(await plan()).toEqual({
      tiers: TIERS,
      current_tier: 'free',
      usage: { cost_usd: 0, tokens: 0, requests: 0 },
      remaining: { cost_usd: 1, tokens: 100_000 },
      quota_exceeded: false,
      points_balance: 0,
      points_per_usd: 200,
    });
  });

  it('shows what remains of the tier after the usage of the month', async () => {
    await use(1000, 0.1);
    await use(2000, 0.2);
    await use(5, null);
    await use(50_000, 0.9, new Date(Date.now() - 40 * 86_400_000));
    expect(await plan()).toMatchObject({
      usage: { cost_usd: 0.3, tokens: 3005, requests: 3 },
      remaining: { cost_usd: 0.7, tokens: 96_995 },
      quota_exceeded: false,
    });
  });

  it('counts every request, and takes from the tier only what was not paid with points', async () => {
    await fund(150);
    await use(1000, 0.5);
    await use(10, 0.5);
    expect(await plan()).toMatchObject({
      usage: { cost_usd: 0.5, tokens: 10, requests: 2 },
      remaining: { cost_usd: 0.5, tokens: 99_990 },
      points_balance: 50,
    });
  });

  it('never goes below zero, and reports that the tier is used up, with or without points', async () => {
    await use(100_001, 2.5);
    await fund(10);
    expect(await plan()).toMatchObject({
      usage: { cost_usd: 2.5, tokens: 100_001 },
      remaining: { cost_usd: 0, tokens: 0 },
      quota_exceeded: true,
      points_balance: 10,
    });
  });

  it('is exceeded by either quota alone', async () => {
    await use(100_000, null);
    expect(await plan()).toMatchObject({ remaining: { cost_usd: 1 }, quota_exceeded: true });
  });
});

describe('billing.plan.set', () => {
  it('sets the tier of a user, effective immediately', async () => {
    await use(10, 1);
    expect((await plan()).quota_exceeded).toBe(true);
    const params = { user_email: user.email.toUpperCase(), tier: 'pro' };
    expect((await set('billing.plan.set', params)).result).toEqual({ ok: true });
    expect(await plan()).toMatchObject({
      current_tier: 'pro',
      remaining: { cost_usd: 19, tokens: 4_999_990 },
      quota_exceeded: false,
    });
    await set('billing.plan.set', { user_email: user.email, tier: 'enterprise' });
    expect(await plan()).toMatchObject({
      current_tier: 'enterprise',
      remaining: { cost_usd: null, tokens: null },
    });
  });

  it.each([
    {
      why: 'an unknown user',
      email: 'missing@example.com',
      tier: 'pro',
      message: 'user not found',
    },
    { why: 'an unknown tier', email: undefined, tier: 'platinum', message: 'tier not found' },
  ])('refuses $why', async ({ email, tier, message }) => {
    const params = { user_email: email ?? user.email, tier };
    expect((await set('billing.plan.set', params)).error).toEqual({ code: -32_000, message });
    expect((await plan()).current_tier).toBe('free');
  });
});

describe('billing.tiers.set', () => {
  it('adds a tier without limits and changes some of them, effective immediately', async () => {
    expect((await set('billing.tiers.set', { name: 'lab' })).result).toEqual({ ok: true });
    await set('billing.plan.set', { user_email: user.email, tier: 'lab' });
    expect((await plan()).remaining).toEqual({ cost_usd: null, tokens: null });
    await set('billing.tiers.set', { name: 'lab', monthly_token_quota: 50, rpm: 3 });
    expect((await plan()).remaining).toEqual({ cost_usd: null, tokens: 50 });
    await set('billing.tiers.set', { name: 'lab', monthly_usd_quota: 2, rpm: null });
    const { tiers } = await plan();
    expect(tiers.find(({ name }) => name === 'lab')).toEqual({
      name: 'lab',
      monthly_usd_quota: 2,
      monthly_token_quota: 50,
      rpm: null,
    });
    await set('billing.tiers.set', {
      name: 'lab',
      monthly_usd_quota: null,
      monthly_token_quota: null,
    });
    expect((await plan()).remaining).toEqual({ cost_usd: null, tokens: null });
  });
});

test('tier changes increase the epoch and are announced, so that keys are looked up again', async () => {
  const { channels, counters } = rpc.test.context.bus;
  const messages: unknown[] = [];
  const subscription = await channels.subscribe('accounts', (message) =>
    messages.push(JSON.parse(message)),
  );
  const [before = 0] = await counters.read(['accounts-epoch']);
  await set('billing.plan.set', { user_email: user.email, tier: 'pro' });
  await set('billing.tiers.set', { name: 'free' });
  expect(await counters.read(['accounts-epoch'])).toEqual([before + 2]);
  await waitUntil(() => messages.length === 2);
  expect(messages).toEqual([
    { kind: 'user', epoch: before + 1, user_id: user.id },
    { kind: 'tiers', epoch: before + 2 },
  ]);
  await subscription.close();
});

describe('video prices', () => {
  const pricing = async () => (await rpc.call('billing.video.pricing.get', {}, user.token)).result;

  it('are set with defaults, replaced completely, and visible to every user', async () => {
    expect(await pricing()).toEqual({ pricing: [] });
    expect((await set('billing.video.pricing.set', { model: 'video-b' })).result).toEqual({
      ok: true,
    });
    const full = {
      model: 'video-a',
      mode: 'per_frame',
      base_price: 0.5,
      price_per_second: 0.25,
      price_per_frame: 0.125,
      resolution_coeff: { '720': 1.5, '*': 1 },
      currency: 'USD',
      enabled: false,
    };
    await set('billing.video.pricing.set', full);
    const byDefault = {
      model: 'video-b',
      mode: 'per_second_resolution',
      base_price: 0,
      price_per_second: 0,
      price_per_frame: 0,
      resolution_coeff: {},
      currency: 'USD',
      enabled: true,
    };
    expect(await pricing()).toEqual({ pricing: [full, byDefault] });
    await set('billing.video.pricing.set', { model: 'video-a' });
    expect(await pricing()).toEqual({ pricing: [{ ...byDefault, model: 'video-a' }, byDefault] });
  });
});

describe('who may call', () => {
  const TOKEN_METHODS = [
    { method: 'billing.plan.set', params: { user_email: 'a@example.com', tier: 'pro' } },
    { method: 'billing.video.pricing.set', params: { model: 'm' } },
  ];
  const ADMIN_METHODS = [
    { method: 'billing.tiers.set', params: { name: 'free' } },
    {
      method: 'billing.pricing.set',
      params: { pattern: 'p', input_per_million: 1, output_per_million: 1 },
    },
    { method: 'billing.pricing.import', params: { catalogue: {} } },
  ];
  const READ_METHODS = [
    { method: 'billing.plan' },
    { method: 'billing.video.pricing.get' },
    { method: 'billing.pricing.get' },
  ];

  it.each(TOKEN_METHODS)('$method accepts only the admin token', async ({ method, params }) => {
    const refusal = { code: -32_005, message: 'admin access required' };
    for (const bearer of [undefined, user.token, 'wrong'])
      expect((await rpc.call(method, params, bearer)).error).toEqual(refusal);
  });

  it.each(ADMIN_METHODS)(
    '$method accepts a platform admin and the admin token',
    async ({ method, params }) => {
      for (const bearer of [undefined, 'wrong'])
        expect((await rpc.call(method, params, bearer)).error?.code).toBe(-32_005);
      expect((await rpc.call(method, params, user.token)).error?.code).toBe(-32_007);
      for (const bearer of [admin.token, ADMIN_TOKEN])
        expect((await rpc.call(method, params, bearer)).error).toBeUndefined();
    },
  );

  it.each(READ_METHODS)('$method accepts any account', async ({ method }) => {
    const refusal = { code: -32_005, message: 'authentication required' };
    for (const bearer of [undefined, ADMIN_TOKEN])
      expect((await rpc.call(method, {}, bearer)).error).toEqual(refusal);
    expect((await rpc.call(method, {}, user.token)).error).toBeUndefined();
  });
});

test.each([
  { method: 'billing.plan.set', params: { user_email: 'no email', tier: 'pro' } },
  { method: 'billing.plan.set', params: { user_email: 'a@example.com' } },
  { method: 'billing.tiers.set', params: {} },
  { method: 'billing.tiers.set', params: { name: '' } },
  { method: 'billing.tiers.set', params: { name: 'n'.repeat(65) } },
  { method: 'billing.tiers.set', params: { name: 'n', monthly_usd_quota: -1 } },
  { method: 'billing.tiers.set', params: { name: 'n', monthly_token_quota: 1.5 } },
  { method: 'billing.tiers.set', params: { name: 'n', rpm: 'many' } },
  { method: 'billing.tiers.set', params: { name: 'n', rpm: 1_000_001 } },
  { method: 'billing.video.pricing.set', params: { model: 'm', mode: 'per_minute' } },
  { method: 'billing.video.pricing.set', params: { model: 'm', base_price: -0.1 } },
  { method: 'billing.video.pricing.set', params: { model: 'm', resolution_coeff: { wide: 2 } } },
  { method: 'billing.video.pricing.set', params: { model: 'm', currency: 'EUR' } },
  { method: 'billing.video.pricing.set', params: { model: 'm', currency: '' } },
  { method: 'billing.pricing.set', params: { pattern: 'p' } },
  { method: 'billing.pricing.import', params: { catalogue: [] } },
  { method: 'billing.pricing.import', params: { catalogue: { m: 1 } } },
  { method: 'billing.pricing.import', params: { catalogue: {}, mode: 'add' } },
  { method: 'billing.pricing.set', params: { pattern: 'p', input_per_million: 1 } },
  {
    method: 'billing.pricing.set',
    params: { pattern: 'p', input_per_million: 1, output_per_million: null },
  },
  {
    method: 'billing.pricing.set',
    params: { pattern: 'qwen*', input_per_million: 1, output_per_million: 1 },
  },
  {
    method: 'billing.pricing.set',
    params: { pattern: ' ', input_per_million: 1, output_per_million: 1 },
  },
])('$method refuses $params', async ({ method, params }) => {
  expect((await set(method, params)).error?.code).toBe(-32_602);
});

test('57 methods are specified, and the others are marked as extensions', async () => {
  const { result } = await rpc.call('rpc.discover', {});
  const { methods } = result as { methods: { name: string; 'x-extension'?: true }[] };
  const extensions = methods.filter((method) => method['x-extension'] === true);
  expect(methods.length - extensions.length).toBe(57);
  expect(extensions.map(({ name }) => name)).toContain('billing.tiers.set');
});
