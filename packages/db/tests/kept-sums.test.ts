import type { UsageEvent } from '@model-gateway/contracts';
import { newId } from '@model-gateway/kernel';
import { SUM_TABLES } from '../src/sums/sum-tables.ts';
import { addSettledRows, settledRow } from './settled-rows.ts';
import { openTestDatabase, type OpenedDatabase, type TestDatabase } from './test-database.ts';
import { usageEvent } from './usage-event.ts';

const TOTALS = `SELECT month::text, requests::int, tier_cost::text, tier_tokens::int
  FROM quota_usage WHERE user_id = $1 ORDER BY month`;

/** Rows of a key of two projects and two months, one that points paid for, and one of a JWT. */
const rowsOf = (user_id: string) => {
  const row = (values: Partial<UsageEvent>, points: number | null = null) =>
    settledRow(
      {
        user_id,
        key_id: user_id,
        project: 'shop',
        model: 'm',
        prompt_tokens: 1,
        completion_tokens: 2,
        total_tokens: 3,
        ...values,
      },
      points,
    );
  return [
    row({ cost: 0.1, created_at: '2026-03-31T23:59:59.999Z', ref_id: 'r' }),
    row({ cost: 0.2, created_at: '2026-03-31T00:00:00Z' }),
    row({ cost: 0.7, created_at: '2026-03-30T23:59:59Z', ref_id: 'r' }, 70),
    row({ cost: null, created_at: '2026-04-01T00:00:00Z', project: 'default' }),
    row({
      cost: 0.4,
      created_at: '2026-04-02T00:00:00Z',
      backend: 'rpc',
      key_id: null,
      project: 'stray',
    }),
  ];
};

const COUNTED = [
  { month: '2026-03-01', requests: 3, tier_cost: '0.3', tier_tokens: 6 },
  { month: '2026-04-01', requests: 2, tier_cost: '0.4', tier_tokens: 6 },
];

const sums = (requests: number, cost: string) => ({
  requests,
  prompt: requests,
  completion: 2 * requests,
  total: 3 * requests,
  cost,
});

const DAYS = [
  { since: '2026-03-30T00:00', surface: 'gateway', ...sums(1, '0.7') },
  { since: '2026-03-31T00:00', surface: 'gateway', ...sums(2, '0.3') },
  { since: '2026-04-01T00:00', surface: 'gateway', ...sums(1, '0') },
  { since: '2026-04-02T00:00', surface: 'rpc', ...sums(1, '0.4') },
];

const DAYS_OF_REFS = [
  { ref_id: 'r', since: '2026-03-30T00:00', surface: 'gateway', ...sums(1, '0.7') },
  { ref_id: 'r', since: '2026-03-31T00:00', surface: 'gateway', ...sums(1, '0.1') },
];

const HOURS = [
  { since: '2026-03-30T23:00', surface: 'gateway', ...sums(1, '0.7') },
  { since: '2026-03-31T00:00', surface: 'gateway', ...sums(1, '0.2') },
  { since: '2026-03-31T23:00', surface: 'gateway', ...sums(1, '0.1') },
  { since: '2026-04-01T00:00', surface: 'gateway', ...sums(1, '0') },
  { since: '2026-04-02T00:00', surface: 'rpc', ...sums(1, '0.4') },
];

const KEPT_SUMS = [DAYS, HOURS, DAYS_OF_REFS];

const SUMS = `to_char(since AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI') AS since, surface, requests::int,
  prompt_tokens::int AS prompt, completion_tokens::int AS completion, total_tokens::int AS total, cost::text`;

const readSums = (database: TestDatabase) =>
  Promise.all([
    database.query(`SELECT ${SUMS} FROM usage_by_model_day ORDER BY 1`),
    database.query(`SELECT ${SUMS} FROM usage_by_model_hour ORDER BY 1`),
    database.query(`SELECT ref_id, ${SUMS} FROM usage_by_ref_day ORDER BY 2`),
  ]);

describe('the kept sums of usage', () => {
  let database: OpenedDatabase;

  beforeAll(async () => {
    database = await openTestDatabase();
  });

  afterEach(async () => {
    await database.raw.query('DROP TABLE IF EXISTS usage_records_2026_03');
    await database.raw.query(
      `TRUNCATE usage_records, quota_usage, ${SUM_TABLES.map(({ name }) => name).join(', ')}`,
    );
  });
  afterAll(() => database.close());

  it('agree with the rows', async () => {
    const userId = newId();
    await addSettledRows(database.raw, rowsOf(userId));
    expect(await database.raw.query(TOTALS, [userId])).toEqual(COUNTED);
    expect(await readSums(database.raw)).toEqual(KEPT_SUMS);
    const whole = { userId, project: null, month: '2026-04' };
    expect(await database.billingFacts.window(whole)).toMatchObject({
      costUsd: 0.4,
      tokens: 6,
      version: 2,
    });
    const listed = (project?: string) =>
      database.usage.list({ userId, project, limit: 10, offset: 0 });
    for (const [project, total] of [
      [undefined, 5],
      ['shop', 3],
      ['stray', 0],
      ['', 0],
    ] as const) {
      const page = await listed(project);
      expect([project, page.total, page.records.length]).toEqual([project, total, total]);
    }
  });

  it('are nothing for rows that a failed transaction took back', async () => {
    const userId = newId();
    const [row] = rowsOf(userId);
    const tooLong = settledRow({ user_id: userId, model: 'm'.repeat(1_000) });
    await expect(
      addSettledRows(database.raw, row === undefined ? [] : [row, tooLong]),
    ).rejects.toThrow('too long');
    expect(await database.raw.query(TOTALS, [userId])).toEqual([]);
  });

  it('stay as they are when rows are moved out of the default partition', async () => {
    const userId = newId();
    await addSettledRows(database.raw, rowsOf(userId));
    await database.raw.query(`
      BEGIN;
      CREATE TEMP TABLE stray ON COMMIT DROP AS SELECT * FROM usage_records;
      DROP TABLE usage_records_2026_03, usage_records_2026_04;
      INSERT INTO usage_records SELECT * FROM stray;
      COMMIT`);
    await database.raw.query(`
      BEGIN;
      CREATE TABLE usage_records_2026_03 (LIKE usage_records INCLUDING ALL);
      WITH moved AS (
        DELETE FROM usage_records_default WHERE created_at < '2026-04-01T00:00:00Z' RETURNING *
      )
      INSERT INTO usage_records_2026_03 SELECT * FROM moved;
      ALTER TABLE usage_records ATTACH PARTITION usage_records_2026_03
        FOR VALUES FROM ('2026-03-01T00:00:00Z') TO ('2026-04-01T00:00:00Z');
      COMMIT`);
    expect(await database.raw.query(TOTALS, [userId])).toEqual(COUNTED);
    expect(await readSums(database.raw)).toEqual(KEPT_SUMS);
    const rows = await database.raw.query(
      'SELECT tableoid::regclass::text AS partition, count(*)::int FROM usage_records GROUP BY 1 ORDER BY 1',
    );
    expect(rows).toEqual([
      { partition: 'usage_records_2026_03', count: 3 },
      { partition: 'usage_records_default', count: 2 },
    ]);
  });

  it('stay exact over many small amounts', async () => {
    const userId = newId();
    const events = Array.from({ length: 500 }, () => usageEvent({ user_id: userId, cost: 0.001 }));
    await database.usage.record(events.slice(0, 250), { pointsPerUsd: 100 });
    await database.usage.record(events.slice(250), { pointsPerUsd: 100 });
    const [line] = await database.raw.query<{ tier_cost: string }>(TOTALS, [userId]);
    expect(line?.tier_cost).toBe('0.500');
  });
});
