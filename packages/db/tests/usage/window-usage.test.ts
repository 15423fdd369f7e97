import { newId } from '@model-gateway/kernel';
import { Pool } from 'pg';
import { openTestDatabase, type OpenedDatabase } from '../test-database.ts';
import { createConnection } from '../../src/connection/connection.ts';
import { PrismaClient } from '../../src/generated/client.ts';
import { PrismaPg } from '@prisma/adapter-pg';
import { readWindows } from '../../src/usage/window-usage.ts';

let database: OpenedDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

test('windows are looked up by their users and not among all lines of the month, also without statistics', async () => {
  const userIds = Array.from({ length: 200 }, () => newId());
  await database.raw.query(
    `INSERT INTO quota_usage (user_id, month, requests, tier_cost, tier_tokens)
     SELECT id, '2026-03-01', 1, 0.5, 7 FROM unnest($1::uuid[]) id`,
    [userIds],
  );
  const pool = new Pool({ connectionString: database.raw.url, max: 1 });
  const prisma = new PrismaClient({ adapter: new PrismaPg(pool) });
  try {
    const windows = userIds.map((userId) => ({ userId, month: '2026-03' }));
    const [used, scans] = await createConnection(prisma, pool).rawTransaction(async (queries) => [
      await readWindows(queries, windows),
      await queries.$queryRaw<{ byMonth: number; byUser: number }[]>`
        SELECT
          pg_stat_get_xact_numscans('quota_usage_month_updated_at_idx'::regclass)::int AS "byMonth",
          pg_stat_get_xact_numscans('quota_usage_pkey'::regclass)::int AS "byUser"`,
    ]);
    expect(used).toHaveLength(userIds.length);
    expect(used).toContainEqual({ ...windows[0], costUsd: 0.5, tokens: 7, version: 1 });
    expect(scans).toEqual([{ byMonth: 0, byUser: userIds.length }]);
  } finally {
    await prisma.$disconnect();
    await pool.end();
  }
});
