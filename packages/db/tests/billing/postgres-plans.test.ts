import { newId } from '@model-gateway/kernel';
import { addSettledRows, settledRow } from '../settled-rows.ts';
import { openTestDatabase, type OpenedDatabase } from '../test-database.ts';

let database: OpenedDatabase;
let userId: string;
let email: string;

beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

beforeEach(async () => {
  userId = newId();
  email = `${userId}@example.com`;
  await database.users.create({ id: userId, email, name: '', passwordHash: 'hash' });
});

const SEEDED = [
  { name: 'free', monthlyUsdQuota: 1, monthlyTokenQuota: 100_000, rpm: 10 },
  { name: 'pro', monthlyUsdQuota: 20, monthlyTokenQuota: 5_000_000, rpm: 120 },
  { name: 'enterprise', monthlyUsdQuota: null, monthlyTokenQuota: null, rpm: 1000 },
];

test('the tiers that there are to begin with, from the least to the most', async () => {
  expect(await database.plans.tiers()).toEqual(SEEDED);
});

test('a tier is added without limits, then changed one limit at a time', async () => {
  const saved = async (changes: Parameters<typeof database.plans.saveTier>[1]) => {
    await database.plans.saveTier('lab', changes);
    return (await database.plans.tiers()).find(({ name }) => name === 'lab');
  };
  const none = { name: 'lab', monthlyUsdQuota: null, monthlyTokenQuota: null, rpm: null };
  expect(await saved({})).toEqual(none);
  expect(await saved({ monthlyTokenQuota: 7, rpm: 3 })).toEqual({
    ...none,
    monthlyTokenQuota: 7,
    rpm: 3,
  });
  expect(await saved({ monthlyUsdQuota: 0.5, rpm: null })).toEqual({
    ...none,
    monthlyUsdQuota: 0.5,
    monthlyTokenQuota: 7,
  });
  expect(await saved({})).toMatchObject({ monthlyUsdQuota: 0.5 });
});

test('a new tier that many save at once is there once', async () => {
  await Promise.all(Array.from({ length: 8 }, () => database.plans.saveTier('once', { rpm: 5 })));
  const names = (await database.plans.tiers()).map(({ name }) => name);
  expect(names.filter((name) => name === 'once')).toHaveLength(1);
});

test('a user is on the free tier until they are put on another', async () => {
  const nothing = { usage: { costUsd: 0, tokens: 0, requests: 0 }, pointsBalance: 0 };
  expect(await database.plans.standing(userId, '2025-05')).toEqual({
    tierName: 'free',
    ...nothing,
  });
  expect(await database.plans.assign(email, 'pro')).toBe(userId);
  expect(await database.plans.standing(userId, '2025-05')).toEqual({ tierName: 'pro', ...nothing });
});

test('a missing user and a missing tier are distinguished', async () => {
  const notFound = (message: string) => ({ code: 'not_found', message });
  await expect(database.plans.assign('nobody@example.com', 'pro')).rejects.toMatchObject(
    notFound('user not found'),
  );
  await expect(database.plans.assign(email, 'platinum')).rejects.toMatchObject(
    notFound('tier not found'),
  );
  expect(await database.plans.standing(newId(), '2025-05')).toBeUndefined();
});

test('the standing counts every request of the month, and cost and tokens of those that no points were paid for', async () => {
  const add = (createdAt: string, project: string | null, points: number | null, cost: number) =>
    addSettledRows(database.raw, [
      settledRow(
        {
          user_id: userId,
          key_id: project === null ? null : newId(),
          project,
          total_tokens: 3,
          cost,
          created_at: createdAt,
        },
        points,
      ),
    ]);
  await add('2025-05-01T00:00:00Z', 'default', null, 0.1);
  await add('2025-05-15T00:00:00Z', 'web', null, 0.2);
  await add('2025-05-31T23:59:59.999Z', null, null, 0.3);
  await add('2025-05-15T00:00:00Z', 'web', 9, 0.09);
  await add('2025-04-30T23:59:59.999Z', 'web', null, 5);
  await add('2025-06-01T00:00:00Z', 'web', null, 5);
  expect((await database.plans.standing(userId, '2025-05'))?.usage).toEqual({
    costUsd: 0.6,
    tokens: 9,
    requests: 4,
  });
});

test('video prices are replaced whole, and listed by model', async () => {
  const pricing = (model: string, basePrice: number) => ({
    model,
    mode: 'per_call' as const,
    basePrice,
    pricePerSecond: 0,
    pricePerFrame: 0,
    resolutionCoeff: { '720': 1.5, '*': 1 },
    currency: 'USD',
    enabled: true,
  });
  await database.videoPricing.save(pricing('b', 1));
  await database.videoPricing.save(pricing('a', 2));
  const changed = { ...pricing('b', 3), resolutionCoeff: {}, enabled: false };
  await database.videoPricing.save(changed);
  expect(await database.videoPricing.list()).toEqual([pricing('a', 2), changed]);
});
