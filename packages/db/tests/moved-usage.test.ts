import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newId, silentLog as log } from '@model-gateway/kernel';
import { migrateDatabase } from '../src/migrations/migrate.ts';
import { prismaFolder } from '../src/migrations/migrations.ts';
import { createTestDatabase, type TestDatabase } from './test-database.ts';

let database: TestDatabase;
/** A release whose last migration is the first one. */
let folder: string;

beforeAll(async () => {
  database = await createTestDatabase();
  folder = await mkdtemp(join(tmpdir(), 'migrations-'));
  const first = join('migrations', '0001_init');
  await cp(join(prismaFolder(), first), join(folder, first), { recursive: true });
});
afterAll(async () => {
  await database.drop();
  await rm(folder, { recursive: true });
});

const [USER, OTHER, KEY, FREE_KEY] = [newId(), newId(), newId(), newId()];

test('what the first release has counted is kept, but for hours that are too old', async () => {
  await migrateDatabase({ databaseUrl: database.url, log, folder });
  await database.query(
    `INSERT INTO users (id, email, password_hash) SELECT id, id || '@example.com', '' FROM unnest($1::uuid[]) id`,
    [[USER, OTHER]],
  );
  await database.query(
    `INSERT INTO api_keys (id, user_id, name, key_hash, key_prefix, key_hint, budget_usd, budget_period)
     VALUES ($1, $3, '', '1', '', '', 9, 'week'), ($2, $3, '', '2', '', '', NULL, NULL)`,
    [KEY, FREE_KEY, USER],
  );
  await database.query(
    `INSERT INTO usage_totals (user_id, project, month, requests, tier_requests, tier_cost, tier_tokens)
     VALUES ($1, 'a', '2026-03-01', 3, 2, 0.1, 7), ($1, '', '2026-03-01', 4, 4, 0.2, 8),
       ($1, 'a', '2026-04-01', 1, 1, 0.5, 1), ($2, 'a', '2026-03-01', 1, 0, 0, 0)`,
    [USER, OTHER],
  );
  await database.query(
    `INSERT INTO key_spend (key_id, day, requests, cost)
     VALUES ($1, '2026-03-15', 1, 1), ($1, '2026-03-16', 2, 2), ($1, '2026-03-22', 4, 4), ($2, '2026-03-16', 8, 8)`,
    [KEY, FREE_KEY],
  );

  const thisMonth = new Date().toISOString().slice(0, 7);
  for (const table of ['account_hour', 'account_day', 'all_hour', 'all_day'])
    await database.query(
      `INSERT INTO usage_by_${table}
       SELECT (jsonb_populate_record(NULL::usage_by_${table}, jsonb_build_object(
         'since', since, 'user_id', $1::uuid, 'key_id', $2::uuid, 'group_id', $2::uuid, 'project', 'a', 'model', 'm',
         'upstream', '', 'requests', 1, 'errors', 0, 'cancelled', 0, 'failed', 0, 'failed_cancelled', 0,
         'prompt_tokens', 1, 'completion_tokens', 1, 'cached_tokens', 0, 'total_tokens', 2, 'cost', 0.5, 'points', 0
       ))).*
       FROM unnest($3::timestamptz[]) since`,
      [USER, KEY, ['2024-02-29T00:00:00Z', `${thisMonth}-01T00:00:00Z`]],
    );

  await migrateDatabase({ databaseUrl: database.url, log });

  expect(
    await database.query(
      `SELECT month::text, requests::int, tier_cost::text, tier_tokens::int FROM quota_usage
       WHERE user_id = $1 ORDER BY month`,
      [USER],
    ),
  ).toEqual([
    { month: '2026-03-01', requests: 7, tier_cost: '0.3', tier_tokens: 15 },
    { month: '2026-04-01', requests: 1, tier_cost: '0.5', tier_tokens: 1 },
  ]);
  expect(
    await database.query(
      'SELECT key_id, period, start::text, cost::int, version::int FROM budget_usage ORDER BY start',
    ),
  ).toEqual([
    { key_id: KEY, period: 'week', start: '2026-03-09', cost: 1, version: 1 },
    { key_id: KEY, period: 'week', start: '2026-03-16', cost: 6, version: 6 },
  ]);
  const kept = (table: string) =>
    database.query(
      `SELECT tableoid::regclass::text AS partition, cost::text, requests::int FROM usage_by_${table} ORDER BY since`,
    );
  const line = (table: string, month: string) => ({
    partition: `usage_by_${table}_${month.replace('-', '_')}`,
    cost: '0.5',
    requests: 1,
  });
  for (const table of ['account_day', 'all_day'])
    expect(await kept(table)).toEqual([line(table, '2024-02'), line(table, thisMonth)]);
  for (const table of ['account_hour', 'all_hour'])
    expect(await kept(table)).toEqual([line(table, thisMonth)]);
});
