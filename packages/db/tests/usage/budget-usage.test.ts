import type { BudgetPeriod } from '@model-gateway/contracts';
import { newId, silentLog } from '@model-gateway/kernel';
import { openTestDatabase, type OpenedDatabase } from '../test-database.ts';
import { usageEvent } from '../usage-event.ts';
import { createDatabase, type Database } from '../../src/database.ts';

const POINTS = { pointsPerUsd: 100 };
const NOW = new Date('2026-03-18T12:00:00Z');

let database: OpenedDatabase;
/** Another process. */
let peer: Database;
let userId: string;

beforeAll(async () => {
  database = await openTestDatabase();
  peer = createDatabase({ databaseUrl: database.raw.url, log: silentLog });
});
afterAll(async () => {
  await peer.close();
  await database.close();
});
beforeEach(async () => {
  userId = newId();
  const email = `${userId}@example.com`;
  await database.users.create({ id: userId, email, name: '', passwordHash: 'hash' });
});

async function newKey(): Promise<string> {
  const id = newId();
  const keyHash = id.padEnd(64, '0');
  const shown = { name: 'k', keyPrefix: 'service-', keyHint: '', project: 'default' };
  await database.keys.create({ id, userId, groupId: null, keyHash, ...shown });
  return id;
}

const use = (keyId: string, cost: number | null, day: string) =>
  usageEvent({ user_id: userId, key_id: keyId, cost, created_at: `${day}T12:00:00Z` });

const setBudget = (keyId: string, budgetPeriod: BudgetPeriod | null, store: Database = database) =>
  store.keys.update(
    userId,
    keyId,
    (settings) => ({
      ...settings,
      budgetPeriod,
      budgetUsd: budgetPeriod === null ? null : 1_000,
    }),
    { at: NOW },
  );

const linesOf = (keyId: string) =>
  database.raw.query(
    'SELECT period, start::text, cost::float8, version::int FROM budget_usage WHERE key_id = $1 ORDER BY 1, 2',
    [keyId],
  );

/** The lines that differ from the rows of their keys, all at one moment. */
const wrongLines = () =>
  database.raw.query(`
    SELECT line.* FROM budget_usage line
    CROSS JOIN LATERAL (
      SELECT coalesce(sum(cost::numeric), 0) AS cost, count(*) AS requests FROM usage_records row
      WHERE row.key_id = line.key_id AND (line.period = 'total' OR
        date_trunc(line.period, row.created_at AT TIME ZONE 'UTC') = line.start)
    ) AS spent
    WHERE line.cost <> spent.cost OR line.version <> spent.requests`);

test('a budget counts what its key has spent before it was made, also while it had another period or none', async () => {
  const key = await newKey();
  const spent = async () => (await database.keys.find(key, NOW))?.spentUsd;
  const record = (...events: Parameters<Database['usage']['record']>[0]) =>
    database.usage.record(events, POINTS);
  await record(use(key, 1, '2026-02-28'), use(key, 2, '2026-03-01'), use(key, 4, '2026-03-16'));
  await record(use(key, 8, '2026-03-18'), use(key, null, '2026-03-18'));
  expect(await spent()).toBe(0);
  for (const [period, usd, requests] of [
    ['day', 8, 2],
    ['week', 12, 3],
    ['month', 14, 4],
    ['total', 15, 5],
  ] as const) {
    expect((await setBudget(key, period))?.spentUsd).toBe(usd);
    expect(await spent()).toBe(usd);
    expect(await linesOf(key)).toEqual([]);
    const { facts } = await record(use(key, 0, '2026-03-18'));
    expect(facts.budgets).toMatchObject([{ period, costUsd: usd }]);
    const [line] = await linesOf(key);
    expect(line).toMatchObject({ period, cost: usd });
    // Each round before this one added a request.
    expect(Number(line?.['version']) - requests).toBeGreaterThan(0);
  }
  await setBudget(key, 'day');
  await record(use(key, 16, '2026-03-18'));
  await setBudget(key, null);
  expect(await linesOf(key)).toEqual([]);
  await record(use(key, 32, '2026-03-18'), use(key, 64, '2026-03-17'));
  expect(await spent()).toBe(0);
  expect((await setBudget(key, 'day'))?.spentUsd).toBe(56);
  await record(use(key, 128, '2026-03-17'), use(key, 256, '2026-03-18'));
  expect(await linesOf(key)).toMatchObject([
    { start: '2026-03-17', cost: 192 },
    { start: '2026-03-18', cost: 312 },
  ]);
  expect(await wrongLines()).toEqual([]);
});

test('lines equal the rows at every moment while two recorders settle and budgets are made, changed and ended', async () => {
  const keys = await Promise.all(Array.from({ length: 5 }, newKey));
  const PERIODS = ['day', 'week', null, 'month', 'total', null] as const;
  let isWritten = false;
  const settleAll = async (store: Database, seed: number) => {
    for (let round = 0; round < 40; round += 1)
      await store.usage.record(
        keys.flatMap((key, index) => [
          use(key, 0.1 * (index + 1), `2026-03-${16 + ((round + seed) % 3)}`),
          use(key, 0.01, '2026-03-18'),
        ]),
        POINTS,
      );
  };
  const changeAll = async () => {
    for (let round = 0; !isWritten; round += 1)
      await Promise.all(
        keys.map((key, index) =>
          setBudget(
            key,
            PERIODS[(round + index) % PERIODS.length] ?? null,
            index < 3 ? database : peer,
          ),
        ),
      );
  };
  let looks = 0;
  const watch = async () => {
    for (; !isWritten; looks += 1) expect(await wrongLines()).toEqual([]);
  };
  const changing = Promise.all([changeAll(), watch()]);
  await Promise.all([settleAll(database, 0), settleAll(peer, 1)]);
  isWritten = true;
  await changing;
  expect(looks).toBeGreaterThan(0);
  expect(await wrongLines()).toEqual([]);
  for (const [index, key] of keys.entries()) {
    const shown = await setBudget(key, 'week');
    expect(shown?.spentUsd).toBeCloseTo(80 * (0.1 * (index + 1) + 0.01), 9);
  }
});
