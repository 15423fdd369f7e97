import { newId } from '@model-gateway/kernel';
import { listMigrations, prismaFolder, readMigrations } from '../src/migrations/migrations.ts';
import {
  createTestDatabase,
  openTestDatabase,
  type OpenedDatabase,
  type TestDatabase,
} from './test-database.ts';
import { usageEvent } from './usage-event.ts';

const TOTALS = `SELECT project, month::text, requests::int, tier_requests::int, tier_cost::text, tier_tokens::int
  FROM usage_totals WHERE user_id = $1 ORDER BY month, project`;

/** Rows as a person would insert them: a key's of two projects and two months, one that points paid for, and a JWT's. */
const BY_HAND = `
  INSERT INTO usage_records (api_key_id, model, backend, prompt_tokens, completion_tokens, total_tokens,
    cost, created_at, ref_id, points, account_type, user_id, key_id, project)
  VALUES
    ('service-', 'm', 'gateway', 1, 2, 3, 0.1, '2026-03-31T23:59:59.999Z', 'r', NULL, NULL, $1, $1, 'shop'),
    ('service-', 'm', 'gateway', 1, 2, 3, 0.2, '2026-03-31T00:00:00Z', NULL, NULL, NULL, $1, $1, 'shop'),
    ('service-', 'm', 'gateway', 1, 2, 3, 0.7, '2026-03-30T23:59:59Z', 'r', 70, 'user', $1, $1, 'shop'),
    ('service-', 'm', 'gateway', 1, 2, 3, NULL, '2026-04-01T00:00:00Z', NULL, NULL, NULL, $1, $1, 'default'),
    ('jwt', 'm', 'rpc', 1, 2, 3, 0.4, '2026-04-02T00:00:00Z', NULL, NULL, NULL, $1, NULL, 'stray')`;

const COUNTED = [
  {
    project: 'shop',
    month: '2026-03-01',
    requests: 3,
    tier_requests: 2,
    tier_cost: '0.3',
    tier_tokens: 6,
  },
  {
    project: '',
    month: '2026-04-01',
    requests: 1,
    tier_requests: 1,
    tier_cost: '0.4',
    tier_tokens: 3,
  },
  {
    project: 'default',
    month: '2026-04-01',
    requests: 1,
    tier_requests: 1,
    tier_cost: '0',
    tier_tokens: 3,
  },
];

const sums = (requests: number, cost: string) => ({
  requests,
  prompt: requests,
  completion: 2 * requests,
  total: 3 * requests,
  cost,
});

const DAYS = [
  { day: '2026-03-30', backend: 'gateway', ...sums(1, '0.7') },
  { day: '2026-03-31', backend: 'gateway', ...sums(2, '0.3') },
  { day: '2026-04-01', backend: 'gateway', ...sums(1, '0') },
  { day: '2026-04-02', backend: 'rpc', ...sums(1, '0.4') },
];

const DAYS_OF_REFS = [
  { ref_id: 'r', day: '2026-03-30', backend: 'gateway', ...sums(1, '0.7') },
  { ref_id: 'r', day: '2026-03-31', backend: 'gateway', ...sums(1, '0.1') },
];

const REF_DAYS = DAYS_OF_REFS.map(({ backend: _backend, ...day }) => day);

const HOURS = [
  { hour: '2026-03-30T23:00', backend: 'gateway', ...sums(1, '0.7') },
  { hour: '2026-03-31T00:00', backend: 'gateway', ...sums(1, '0.2') },
  { hour: '2026-03-31T23:00', backend: 'gateway', ...sums(1, '0.1') },
  { hour: '2026-04-01T00:00', backend: 'gateway', ...sums(1, '0') },
  { hour: '2026-04-02T00:00', backend: 'rpc', ...sums(1, '0.4') },
];

const ROLLUPS = [DAYS, DAYS_OF_REFS, REF_DAYS, HOURS];

const SUMS = `requests::int, prompt_tokens::int AS prompt, completion_tokens::int AS completion,
  total_tokens::int AS total, cost::text`;

async function readRollups(database: TestDatabase) {
  return [
    await database.query(
      `SELECT day::text, backend, ${SUMS} FROM usage_daily ORDER BY day, backend`,
    ),
    await database.query(
      `SELECT ref_id, day::text, backend, ${SUMS} FROM usage_daily_refs ORDER BY ref_id, day`,
    ),
    await database.query(
      `SELECT ref_id, day::text, ${SUMS} FROM usage_ref_days ORDER BY ref_id, day`,
    ),
    await database.query(
      `SELECT to_char(hour AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI') AS hour, backend, ${SUMS}
       FROM usage_hourly ORDER BY hour`,
    ),
  ];
}

describe('the totals of usage', () => {
  let database: OpenedDatabase;

  beforeAll(async () => {
    database = await openTestDatabase();
  });

  afterEach(async () => {
    await database.raw.query('DROP TABLE IF EXISTS usage_records_2026_03');
    await database.raw.query(
      'TRUNCATE usage_records, usage_totals, usage_daily, usage_daily_refs, usage_ref_days, usage_hourly, usage_sums',
    );
  });
  afterAll(() => database.close());

  it('agree with rows that were inserted by hand', async () => {
    const userId = newId();
    await database.raw.query(BY_HAND, [userId]);
    expect(await database.raw.query(TOTALS, [userId])).toEqual(COUNTED);
    expect(await readRollups(database.raw)).toEqual(ROLLUPS);
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
    await database.raw.query('BEGIN');
    await database.raw.query(BY_HAND, [userId]);
    await database.raw.query('ROLLBACK');
    expect(await database.raw.query(TOTALS, [userId])).toEqual([]);
  });

  it('do not count rows again that are moved out of the default partition', async () => {
    const userId = newId();
    await database.raw.query(BY_HAND, [userId]);
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
    expect(await readRollups(database.raw)).toEqual(ROLLUPS);
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

it('rows that were there before the totals are counted by the migration', async () => {
  const database = await createTestDatabase();
  const userId = newId();
  const folder = prismaFolder();
  const [first, ...later] = await readMigrations(folder, await listMigrations(folder));
  await database.query(first?.sql ?? '');
  await database.query(BY_HAND, [userId]);
  for (const { sql } of later) await database.query(sql);
  expect(await database.query(TOTALS, [userId])).toEqual(COUNTED);
  expect(await readRollups(database)).toEqual(ROLLUPS);
  await database.drop();
});
