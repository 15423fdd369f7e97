import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { silentLog as log } from '@model-gateway/kernel';
import { Client } from 'pg';
import { createTestDatabase, type TestDatabase } from '../test-database.ts';
import { explainStartFailure } from '../../src/connection/start-failure.ts';
import { migrateDatabase, pendingMigrations } from '../../src/migrations/migrate.ts';

const POLL_MS = 10;

let database: TestDatabase;
let folder: string;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'migrations-'));
  await addMigration('1_table', 'CREATE TABLE things (name text, size int);');
});
afterEach(async () => {
  await database.clear();
  await rm(folder, { recursive: true });
});

async function addMigration(name: string, sql: string): Promise<void> {
  await mkdir(join(folder, 'migrations', name), { recursive: true });
  await writeFile(join(folder, 'migrations', name, 'migration.sql'), sql);
}

const options = () => ({ databaseUrl: database.url, log, folder });

const indexes = () =>
  database.query(
    `SELECT relname AS name, indisvalid AS valid FROM pg_index JOIN pg_class ON oid = indexrelid
     WHERE indrelid = 'things'::regclass ORDER BY 1`,
  );

test('indexes are built while others write, and no other process waits for them', async () => {
  await migrateDatabase(options());
  await addMigration(
    '2_indexes',
    `-- CreateIndex
CREATE INDEX CONCURRENTLY "things_name_idx" ON "things"("name");

-- CreateIndex
CREATE INDEX CONCURRENTLY "things_size_idx" ON "things"("size");`,
  );
  const writer = new Client({ connectionString: database.url });
  await writer.connect();
  try {
    await writer.query(`BEGIN; INSERT INTO things VALUES ('a', 1)`);
    const building = migrateDatabase(options());
    const waiting = `SELECT FROM pg_stat_activity
      WHERE datname = current_database() AND query LIKE 'CREATE INDEX CONCURRENTLY%' AND wait_event_type = 'Lock'`;
    while ((await database.query(waiting)).length === 0) await delay(POLL_MS);
    await database.query(`INSERT INTO things VALUES ('b', 2)`);
    expect(await pendingMigrations(options())).toEqual([]);
    expect(await migrateDatabase(options())).toEqual([]);
    await writer.query('COMMIT');
    expect(await building).toEqual(['2_indexes']);
  } finally {
    await writer.end();
  }
  expect(await indexes()).toEqual([
    { name: 'things_name_idx', valid: true },
    { name: 'things_size_idx', valid: true },
  ]);
  expect(await migrateDatabase(options())).toEqual([]);
});

test('an index that an attempt left unfinished is built anew', async () => {
  await migrateDatabase(options());
  await database.query(`INSERT INTO things VALUES ('a', 1), ('a', 2)`);
  await addMigration(
    '2_unique',
    'CREATE UNIQUE INDEX CONCURRENTLY "things_name_key" ON "things"("name");',
  );
  await expect(migrateDatabase(options())).rejects.toMatchObject({
    name: 'StartupError',
    message: expect.stringContaining('could not create unique index'),
  });
  expect(await indexes()).toEqual([{ name: 'things_name_key', valid: false }]);
  await database.query('DELETE FROM things WHERE size = 2');
  await addMigration('3_more', 'ALTER TABLE things ADD color text;');
  expect(await migrateDatabase(options())).toEqual(['3_more', '2_unique']);
  expect(await indexes()).toEqual([{ name: 'things_name_key', valid: true }]);
});

test('a migration that builds indexes holds nothing else', async () => {
  await addMigration(
    '2_both',
    `CREATE INDEX CONCURRENTLY "things_name_idx" ON "things"("name"); ALTER TABLE things ADD color text;`,
  );
  await expect(migrateDatabase(options())).rejects.toMatchObject({
    message: expect.stringContaining('holds nothing else: ALTER TABLE'),
  });
  expect(await indexes()).toEqual([]);
});

test('a lock that is not free in time is no server that cannot be reached', () => {
  const timeout = Object.assign(new Error('canceling statement due to lock timeout'), {
    code: '55P03',
  });
  expect(explainStartFailure(timeout, database.url).message).toContain(
    'another process has been migrating the database',
  );
});
