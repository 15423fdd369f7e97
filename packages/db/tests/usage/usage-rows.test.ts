import type { UsageEvent } from '@model-gateway/contracts';
import { newId } from '@model-gateway/kernel';
import { openTestDatabase, type OpenedDatabase } from '../test-database.ts';
import { usageEvent } from '../usage-event.ts';
import { SUM_TABLES } from '../../src/sums/sum-tables.ts';

const KEPT = [
  'usage_records',
  'quota_usage',
  'budget_usage',
  ...SUM_TABLES.map(({ name }) => name),
];
const POINTS_PER_USD = { pointsPerUsd: 100 };
const WALLET_POINTS = 200;

const pick = <Value>(values: readonly Value[], index: number): Value | undefined =>
  values[index % values.length];

const USERS = [newId(), newId(), newId()];
const KEYS = [newId(), null, newId(), newId(), null];
const GROUPS = [null, newId(), null, null];
// The exact value of the last has 16 digits, of which Postgres keeps 15 in a decimal.
const COSTS = [0.1, null, 0, 1e-7, 0.25, 123.456, 0.1883697509765625];

/** Events that differ in everything that is counted, each in its own rhythm. */
const eventOf = (index: number): UsageEvent =>
  usageEvent({
    user_id: pick(USERS, index) ?? '',
    key_id: pick(KEYS, index) ?? null,
    group_id: pick(GROUPS, index) ?? null,
    project: pick(['default', 'a\tb\n"c" \\N', null], index) ?? null,
    model: pick(['gpt-4o', 'back\\slash', 'ärger'], index) ?? '',
    backend: pick(['gateway', 'rpc'], index) ?? '',
    upstream: pick(['one', null, 'two'], index) ?? null,
    ref_id: pick([null, 'r', '', null, '\\N'], index) ?? null,
    status: pick([200, 499, null, 400], index) ?? null,
    cached_tokens: pick([null, 1, 2], index) ?? null,
    cost: pick(COSTS, index) ?? null,
    price: { source: 'built-in', pattern: 'a\\"\t', input_per_million: 1, output_per_million: 2 },
    created_at: new Date(Date.UTC(2026, 2, 31, 20 + (index % 9), index % 60)).toISOString(),
  });

describe('usage rows', () => {
  let copied: OpenedDatabase;
  let inserted: OpenedDatabase;

  beforeAll(async () => {
    [copied, inserted] = await Promise.all([openTestDatabase(), openTestDatabase()]);
  });

  afterAll(() => Promise.all([copied.close(), inserted.close()]));

  const linesOf = ({ raw }: OpenedDatabase, table: string) =>
    raw.query(`SELECT to_jsonb(line) - 'updated_at' AS line FROM ${table} line ORDER BY 1`);

  it('that the recorder copies are stored and counted like those that are inserted', async () => {
    for (const { raw } of [copied, inserted])
      await raw.query(
        `INSERT INTO ledger_accounts (owner_type, owner_id, balance)
         SELECT 'user', owner, $2 FROM unnest($1::uuid[]) owner`,
        [USERS, WALLET_POINTS],
      );
    for (const { raw } of [copied, inserted])
      await raw.query(
        `WITH owner AS (
           INSERT INTO users (id, email, password_hash) VALUES ($1, 'owner@example.com', '') RETURNING id
         )
         INSERT INTO api_keys (id, user_id, name, key_hash, key_prefix, key_hint, budget_usd, budget_period)
         SELECT key, owner.id, '', left(key::text, 36), '', '', 1, 'day'
         FROM owner CROSS JOIN unnest($2::uuid[]) key WHERE key IS NOT NULL`,
        [USERS[0], KEYS],
      );
    for (const begin of [0, 100, 200]) {
      const events = Array.from({ length: 100 }, (_, index) => eventOf(begin + index));
      await copied.usage.record(events, POINTS_PER_USD);
      // A transaction of Prisma has no COPY.
      await inserted.transaction(({ usage }) => usage.record(events, POINTS_PER_USD));
    }
    for (const table of KEPT) {
      const lines = await linesOf(copied, table);
      expect(lines.length).toBeGreaterThan(0);
      expect([table, lines]).toEqual([table, await linesOf(inserted, table)]);
    }
    const paid = 'SELECT 1 FROM usage_records WHERE points IS NOT NULL';
    expect((await copied.raw.query(paid)).length).toBeGreaterThan(0);
    for await (const { wrongLines } of copied.spendSums.check({ repairs: false }))
      expect(wrongLines).toBe(0);
  });

  it('of a month whose partition was detached are in the default one', async () => {
    const userId = newId();
    const event = () => usageEvent({ user_id: userId, created_at: '2027-08-04T00:00:00Z' });
    await copied.usage.record([event()], POINTS_PER_USD);
    await copied.raw.query('ALTER TABLE usage_records DETACH PARTITION usage_records_2027_08');
    const later = event();
    await copied.usage.record([later], POINTS_PER_USD);
    const rows = await copied.raw.query(
      'SELECT id, tableoid::regclass::text AS partition FROM usage_records WHERE user_id = $1',
      [userId],
    );
    expect(rows).toEqual([{ id: later.id, partition: 'usage_records_default' }]);
  });

  it('are in the hour that Postgres counts them in, however exact their time is', async () => {
    const userId = newId();
    const event = usageEvent({ user_id: userId, created_at: '2026-05-04T05:59:59.9999999Z' });
    await copied.usage.record([event], POINTS_PER_USD);
    expect((await copied.usage.record([event], POINTS_PER_USD)).added).toBe(0);
    const hours = await copied.raw.query(
      `SELECT 1 FROM usage_by_account_hour WHERE user_id = $1 AND since = '2026-05-04T05:00:00Z'`,
      [userId],
    );
    expect(hours).toHaveLength(1);
    const wrong = new Map<string, number>();
    for await (const { day, wrongLines } of copied.spendSums.check({ repairs: false }))
      wrong.set(day, wrongLines);
    expect(wrong.get('2026-05-04')).toBe(0);
  });
});
