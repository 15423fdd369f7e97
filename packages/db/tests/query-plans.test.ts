import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { newId, silentLog } from '@model-gateway/kernel';
import { createDatabase, type Database } from '../src/database.ts';
import { wrongDays } from './expected-spend.ts';
import { openTestDatabase, type OpenedDatabase } from './test-database.ts';
import { usageEvent } from './usage-event.ts';

const POLL_MS = 10;
/** Has a tenth of all rows. */
const BUSY_USER = '10000000-0000-4000-8000-000000000000';
// Enough that reading a whole table costs more than an index.
const SEED = [
  `SELECT usage_ensure_partitions(month::date)
   FROM generate_series('2026-01-01'::date, '2026-04-01'::date, '1 month') AS month`,
  `INSERT INTO usage_records (api_key_id, model, backend, prompt_tokens, completion_tokens, total_tokens,
     cost, created_at, ref_id, user_id, key_id, project)
   SELECT 'service-', 'model-' || n % 20, 'gateway', 1, 1, 2, 0.001,
     '2026-01-01T00:00:00Z'::timestamptz + n * INTERVAL '8 minutes', 'ref-' || n % 1000,
     CASE WHEN n % 10 = 0 THEN '${BUSY_USER}' ELSE md5((n % 5000)::text)::uuid END, gen_random_uuid(), 'shop'
   FROM generate_series(1, 15000) AS n`,
  `INSERT INTO ledger_accounts (owner_type, owner_id, balance, updated_at)
   SELECT 'user', md5(n::text)::uuid, 0, '2026-01-01' FROM generate_series(0, 29999) AS n`,
  `INSERT INTO ledger_entries (account_id, delta, balance_after, kind)
   SELECT id, 1000, 1000, 'topup' FROM ledger_accounts`,
  `INSERT INTO users (id, email, name, password_hash)
   SELECT md5(n::text)::uuid, n || '@example.com', '', '' FROM generate_series(0, 99) AS n`,
  `INSERT INTO video_jobs (user_id, api_key_id, model, resolved_model, request, status, created_at)
   SELECT md5((n % 100)::text)::uuid, 'jwt', 'm', 'm', '{}',
     CASE WHEN n % 600 = 0 THEN 'running' WHEN n % 600 = 1 THEN 'queued' ELSE 'done' END,
     '2026-01-01T00:00:00Z'::timestamptz + n * INTERVAL '1 minute'
   FROM generate_series(1, 6000) AS n`,
  `INSERT INTO quota_usage (user_id, month, requests, tier_cost, tier_tokens, updated_at)
   SELECT user_id, date_trunc('month', created_at, 'UTC')::date, count(*), sum(cost::numeric), sum(total_tokens),
     '2026-01-01'
   FROM usage_records GROUP BY 1, 2`,
];

describe('with many rows no whole table is read', () => {
  let database: OpenedDatabase;
  const userId = uuidOf('7');

  beforeAll(async () => {
    database = await openTestDatabase();
    for (const statement of SEED) await database.raw.query(statement);
    await wrongDays(database, true);
    await database.raw.query('VACUUM ANALYZE');
  });

  afterAll(() => database.close());

  const READ_IN_WHOLE = `
    SELECT relname AS name, seq_tup_read::int AS rows FROM pg_stat_user_tables
    WHERE (relname LIKE 'usage%' OR relname LIKE '%_usage' OR relname LIKE 'ledger%' OR relname LIKE 'video%')
    ORDER BY 1`;
  const READ_BY_INDEXES_OF_ROWS = `
    SELECT indexrelname AS name, idx_tup_read::int AS rows FROM pg_stat_user_indexes
    WHERE relname LIKE 'usage_records%' ORDER BY 1`;

  async function countRead(counts: string): Promise<ReadonlyMap<string, number>> {
    await database.raw.query('SELECT pg_stat_force_next_flush()');
    const found = await database.raw.query<{ name: string; rows: number }>(counts);
    return new Map(found.map(({ name, rows }) => [name, rows]));
  }

  const tablesReadBy = (work: (own: Database) => Promise<unknown>): Promise<string[]> =>
    readBy(work, READ_IN_WHOLE);

  /** The tables or indexes that work reads. It gets connections of its own, which report what they read when they end. */
  async function readBy(
    work: (own: Database) => Promise<unknown>,
    counts: string,
  ): Promise<string[]> {
    const before = await countRead(counts);
    const own = createDatabase({ databaseUrl: database.raw.url, log: silentLog });
    await work(own);
    await own.close();
    const connected = `SELECT 1 FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'model-gateway'`;
    while ((await database.raw.query(connected)).length > 0) await delay(POLL_MS);
    return [...(await countRead(counts))]
      .filter(([name, rows]) => rows > (before.get(name) ?? 0))
      .map(([name]) => name);
  }

  const readChanges = async (own: Database) => {
    for await (const facts of own.billingFacts.changedSince(new Date(Date.now() - 60_000)))
      expect(facts.windows.length + facts.accounts.length).toBeGreaterThan(0);
  };

  it.each([
    {
      what: 'a batch, also when it comes again',
      work: async (own: Database) => {
        const events = Array.from({ length: 100 }, (_, index) =>
          usageEvent({ user_id: index % 2 === 0 ? uuidOf(String(index)) : newId(), ref_id: 'r' }),
        );
        await own.usage.record(events, { pointsPerUsd: 100 });
        await own.usage.record(events, { pointsPerUsd: 100 });
      },
    },
    {
      what: 'a listing',
      work: (own: Database) => own.usage.list({ userId, limit: 50, offset: 0 }),
    },
    {
      what: 'a listing of a project',
      work: (own: Database) => own.usage.list({ userId, project: 'shop', limit: 50, offset: 0 }),
    },
    {
      what: 'a window',
      work: (own: Database) => own.billingFacts.window({ userId, month: '2026-03' }),
    },
    {
      what: 'an account',
      work: (own: Database) => own.billingFacts.account({ type: 'user', id: userId }),
    },
    {
      what: 'the requests of a key',
      work: (own: Database) => own.requestLog.list({ keyId: newId() }, { limit: 50 }),
    },
    {
      what: 'the requests of a group',
      work: (own: Database) => own.requestLog.list({ groupId: newId() }, { limit: 50 }),
    },
    {
      what: 'the requests of a backend',
      work: (own: Database) => own.requestLog.list({ upstream: 'unused' }, { limit: 50 }),
    },
    { what: 'what changed', work: readChanges },
    { what: 'the video jobs of a user', work: (own: Database) => own.videoJobs.list(userId, 20) },
    {
      what: 'the unfinished video jobs',
      work: async (own: Database) => {
        for await (const ids of own.videoJobs.unfinished(0)) expect(ids).toHaveLength(20);
      },
    },
  ])('for $what', async ({ work }) => {
    expect(await tablesReadBy(work)).toEqual([]);
  });

  it('and of a user with a tenth of the rows only those of the user', async () => {
    const morning = {
      since: new Date('2026-02-10T00:00:00Z'),
      until: new Date('2026-02-10T12:00:00Z'),
    };
    const indexes = await readBy(async (own) => {
      const { total } = await own.spend.summary({ userId: BUSY_USER, ...morning }, 'model');
      expect(total.requests).toBe(9);
    }, READ_BY_INDEXES_OF_ROWS);
    expect(indexes).toEqual(['usage_records_2026_02_user_id_created_at_model_key_id_idx']);
  });

  it('which would be noticed if it were otherwise', async () => {
    await database.raw.query('DROP INDEX ledger_accounts_updated_at_idx');
    expect(await tablesReadBy(readChanges)).toEqual(['ledger_accounts']);
  });
});

/** The user whom the rows above number so. */
function uuidOf(number: string): string {
  const hex = createHash('md5').update(number).digest('hex');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
