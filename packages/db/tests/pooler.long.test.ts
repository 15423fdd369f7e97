import { newId, silentLog } from '@model-gateway/kernel';
import { createDatabase, type Database } from '../src/database.ts';
import { migrateDatabase } from '../src/migrations/migrate.ts';
import { hasPooler, startPooler, type Pooler } from './pooler.ts';
import { createTestDatabase, type TestDatabase } from './test-database.ts';
import { usageEvent } from './usage-event.ts';

if (hasPooler()) {
  describe('behind a pooler in transaction mode', () => {
    let raw: TestDatabase;
    let pooler: Pooler;
    let database: Database;

    beforeAll(async () => {
      raw = await createTestDatabase();
      // Another zone than ours, in every new session.
      await raw.query(
        `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET timezone = ''Asia/Tokyo''', current_database()); END $$`,
      );
      pooler = await startPooler(raw.url);
      database = createDatabase({ databaseUrl: pooler.url, log: silentLog });
    });

    afterAll(async () => {
      await database.close();
      await pooler.close();
      await raw.drop();
    });

    it('migrates, once, however many processes begin at the same time', async () => {
      const runs = await Promise.all(
        Array.from({ length: 3 }, () =>
          migrateDatabase({ databaseUrl: pooler.url, log: silentLog }),
        ),
      );
      expect(runs.filter((applied) => applied.length > 0)).toHaveLength(1);
    });

    it('leaves no lock behind on a connection that others use next', async () => {
      const locks = await raw.query(
        `SELECT objid, mode FROM pg_locks JOIN pg_database ON pg_database.oid = database
          WHERE locktype = 'advisory' AND datname = current_database()`,
      );
      expect(locks).toEqual([]);
    });

    it('records usage of many callers at once, exactly once and in UTC', async () => {
      const userId = newId();
      const events = Array.from({ length: 60 }, () => usageEvent({ user_id: userId }));
      const options = { pointsPerUsd: 100 };
      const batches = Array.from({ length: 12 }, (_, index) =>
        events.slice(index * 5, index * 5 + 5),
      );
      await Promise.all(
        [...batches, ...batches].map((batch) => database.usage.record(batch, options)),
      );
      const { total, records } = await database.usage.list({ userId, limit: 100, offset: 0 });
      expect(total).toBe(60);
      expect(new Set(records.map(({ createdAt }) => createdAt.toISOString()))).toEqual(
        new Set(['2026-03-04T05:06:07.890Z']),
      );
    });

    it('keeps everything or nothing of transactions that run at the same time', async () => {
      const users = Array.from({ length: 20 }, (_, index) => ({
        id: newId(),
        email: `${newId()}@example.com`,
        name: `user ${index}`,
        passwordHash: 'hash',
      }));
      const outcomes = await Promise.allSettled(
        users.map((user, index) =>
          database.transaction(async (stores) => {
            await stores.users.create(user);
            if (index % 2 === 1) throw new Error('changed my mind');
          }),
        ),
      );
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(10);
      const found = await Promise.all(users.map(({ id }) => database.users.findById(id)));
      expect(found.map((user) => user !== undefined)).toEqual(
        users.map((_, index) => index % 2 === 0),
      );
    });
  });
} else {
  test('pgbouncer is not installed', () => expect(hasPooler()).toBe(false));
}
