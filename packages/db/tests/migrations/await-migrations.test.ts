import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLog, type Log } from '@model-gateway/kernel';
import { createTestDatabase, type TestDatabase } from '../test-database.ts';
import { awaitMigrations } from '../../src/migrations/await-migrations.ts';
import { migrateDatabase } from '../../src/migrations/migrate.ts';

const never = new AbortController().signal;

let database: TestDatabase;
let folder = '';

beforeAll(async () => {
  database = await createTestDatabase();
  folder = await mkdtemp(join(tmpdir(), 'migrations-'));
  for (const name of ['1_one', '2_two']) {
    await mkdir(join(folder, 'migrations', name), { recursive: true });
    await writeFile(
      join(folder, 'migrations', name, 'migration.sql'),
      `CREATE TABLE t${name} (id int);`,
    );
  }
});
afterAll(async () => {
  await database.drop();
  await rm(folder, { recursive: true });
});

const options = () => ({ databaseUrl: database.url, log: silentLog, folder });

test('a timeout reports what is missing and what to do', async () => {
  await expect(
    awaitMigrations({ ...options(), signal: never, timeoutMs: 0 }),
  ).rejects.toMatchObject({
    name: 'StartupError',
    message:
      'the database lacks the migration 1_one and 1 more, and SERVICE_MIGRATE=0 leaves them to another process; run `pnpm gateway db:migrate`',
  });
});

/** A log, and when something is said in it. */
function listen(): { readonly log: Log; readonly said: Promise<string> } {
  let hear: (message: string) => void = () => undefined;
  const said = new Promise<string>((resolve) => {
    hear = resolve;
  });
  return { log: { ...silentLog, info: (_fields, message) => hear(message) }, said };
}

test('an abort ends the wait', async () => {
  const stop = new AbortController();
  const { log, said } = listen();
  const waiting = awaitMigrations({ ...options(), log, signal: stop.signal });
  expect(await said).toBe('waiting for the database to be migrated');
  stop.abort();
  await waiting;
});

test('the wait ends when another process has migrated', async () => {
  const { log, said } = listen();
  const waiting = awaitMigrations({ ...options(), log, signal: never });
  await said;
  expect(await migrateDatabase(options())).toEqual(['1_one', '2_two']);
  await waiting;
  await awaitMigrations({ ...options(), signal: never, timeoutMs: 0 });
});
