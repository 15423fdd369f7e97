import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { silentLog } from '@model-gateway/kernel';
import { PrismaPg } from '@prisma/adapter-pg';
import { createCuttableProxy } from '../cuttable-proxy.ts';
import { createTestDatabase, type TestDatabase } from '../test-database.ts';
import { withSchemaEngine, WHOLE_SCHEMA } from '../../tools/schema-engine.ts';
import { migrateDatabase } from '../../src/migrations/migrate.ts';
import { listMigrations, prismaFolder, readMigrations } from '../../src/migrations/migrations.ts';

const log = silentLog;
const POLL_MS = 10;

describe('migrating', () => {
  let database: TestDatabase;
  let folder: string;

  beforeAll(async () => {
    database = await createTestDatabase();
  });

  afterAll(() => database.drop());

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'migrations-'));
  });

  afterEach(async () => {
    await database.clear();
    await rm(folder, { recursive: true });
  });

  const addMigration = async (name: string, sql: string) => {
    await mkdir(join(folder, 'migrations', name), { recursive: true });
    await writeFile(join(folder, 'migrations', name, 'migration.sql'), sql);
  };

  const tables = async () => {
    const rows = await database.query<{ tablename: string }>(
      `SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1`,
    );
    return rows.map((row) => row.tablename);
  };

  it('happens once when ten processes start at the same time', async () => {
    const calls = Array.from({ length: 10 }, () =>
      migrateDatabase({ databaseUrl: database.url, log }),
    );
    const applied = await Promise.all(calls);
    const names = await listMigrations(prismaFolder());
    expect(applied.filter((list) => list.length > 0)).toEqual([names]);
    const rows = await database.query<{ migration_name: string; finished: boolean }>(
      'SELECT migration_name, finished_at IS NOT NULL AS finished FROM _prisma_migrations ORDER BY 1',
    );
    expect(rows).toEqual(names.map((name) => ({ migration_name: name, finished: true })));
    expect(await migrateDatabase({ databaseUrl: database.url, log })).toEqual([]);
  });

  it('leaves a history that the Prisma command line would leave', async () => {
    await migrateDatabase({ databaseUrl: database.url, log });
    const names = await listMigrations(prismaFolder());
    const found = await withSchemaEngine(
      new PrismaPg({ connectionString: database.url }),
      await readFile(join(prismaFolder(), 'schema.prisma'), 'utf8'),
      async (engine) =>
        engine.diagnoseMigrationHistory({
          migrationsList: {
            baseDir: 'migrations',
            lockfile: { path: 'migration_lock.toml', content: 'provider = "postgresql"\n' },
            shadowDbInitScript: '',
            migrationDirectories: (await readMigrations(prismaFolder(), names)).map(
              ({ name, sql }) => ({
                path: name,
                migrationFile: { path: 'migration.sql', content: { tag: 'ok', value: sql } },
              }),
            ),
          },
          optInToShadowDatabase: false,
          filters: WHOLE_SCHEMA,
        }),
    );
    expect(found).toMatchObject({
      history: null,
      failedMigrationNames: [],
      editedMigrationNames: [],
      hasMigrationsTable: true,
    });
  });

  it('reports that the connection was lost, and succeeds when it is tried again', async () => {
    await addMigration('1_good', 'CREATE TABLE good (id int);');
    const attempt = () => migrateDatabase({ databaseUrl: database.url, log, folder });
    await database.query('SELECT pg_advisory_lock(72707369)');
    const refusal = attempt().catch((error: unknown) => error);
    const ended = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'model-gateway-migrate' AND wait_event = 'advisory'`;
    while ((await database.query(ended)).length === 0) await delay(POLL_MS);
    expect(await refusal).toMatchObject({
      name: 'StartupError',
      message: expect.stringContaining('was left as it was: terminating connection'),
    });
    await database.query('SELECT pg_advisory_unlock(72707369)');
    expect(await attempt()).toEqual(['1_good']);
  });

  it('waits for a migration in progress', async () => {
    await addMigration('1_good', 'CREATE TABLE good (id int);');
    await database.query('SELECT pg_advisory_lock(72707369)');
    const waiting = migrateDatabase({ databaseUrl: database.url, log, folder });
    const isWaiting = async () =>
      (await database.query(`SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`))
        .length > 0;
    while (!(await isWaiting())) await delay(POLL_MS);
    expect(await tables()).toEqual([]);
    await database.query('SELECT pg_advisory_unlock(72707369)');
    expect(await waiting).toEqual(['1_good']);
  });

  it('leaves the database as it was when a migration fails, and succeeds once that is mended', async () => {
    await addMigration('1_good', 'CREATE TABLE good (id int);');
    await addMigration('2_bad', 'CREATE TABLE half (id int); CREATE TABLE good (id int);');
    const attempt = () => migrateDatabase({ databaseUrl: database.url, log, folder });
    await expect(attempt()).rejects.toMatchObject({
      name: 'StartupError',
      message: expect.stringMatching(
        /could not be migrated and was left as it was: relation "good" already exists; repair/,
      ),
    });
    expect(await tables()).toEqual([]);

    await addMigration('2_bad', 'CREATE TABLE whole (id int);');
    expect(await attempt()).toEqual(['1_good', '2_bad']);
    await addMigration('3_more', 'CREATE TABLE more (id int);');
    expect(await attempt()).toEqual(['3_more']);
    expect(await tables()).toEqual(['_prisma_migrations', 'good', 'more', 'whole']);
  });

  it('adopts a database that the migrations before the first release have made', async () => {
    const all = await listMigrations(prismaFolder());
    const [baseline] = await readMigrations(prismaFolder(), ['0001_init']);
    await addMigration('0001_init', baseline?.sql ?? '');
    await migrateDatabase({ databaseUrl: database.url, log, folder });
    const history = async () =>
      (
        await database.query<{ migration_name: string }>(
          'SELECT migration_name FROM _prisma_migrations ORDER BY 1',
        )
      ).map((row) => row.migration_name);
    const setHistory = (...names: readonly string[]) =>
      database.query(
        `WITH gone AS (DELETE FROM _prisma_migrations)
         INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at)
         SELECT gen_random_uuid()::text, '', name, now() FROM unnest($1::text[]) AS name`,
        [names],
      );
    await setHistory('20260101000000_init', '20261119110000_three_cuts');
    expect(await migrateDatabase({ databaseUrl: database.url, log })).toEqual(all);
    expect(await history()).toEqual(all);
    expect(await migrateDatabase({ databaseUrl: database.url, log })).toEqual([]);

    await setHistory('20260101000000_init', '20261115055646_usage_totals');
    await expect(migrateDatabase({ databaseUrl: database.url, log })).rejects.toMatchObject({
      name: 'StartupError',
      message: expect.stringMatching(/20261115055646_usage_totals.*start commit \w{8} once/),
    });
    expect(await history()).toEqual(['20260101000000_init', '20261115055646_usage_totals']);
  });

  it('does not touch a database whose last migration another tool left unfinished', async () => {
    await addMigration('1_good', 'CREATE TABLE good (id int);');
    await migrateDatabase({ databaseUrl: database.url, log, folder });
    await database.query('UPDATE _prisma_migrations SET finished_at = NULL');
    await expect(migrateDatabase({ databaseUrl: database.url, log, folder })).rejects.toMatchObject(
      {
        name: 'StartupError',
        message: expect.stringContaining(
          'migration 1_good was started by another tool and never finished',
        ),
      },
    );
  });

  it('does not change a database that a newer release has migrated', async () => {
    await addMigration('1_good', 'CREATE TABLE good (id int);');
    await addMigration('2_newer', 'CREATE TABLE newer (id int);');
    await migrateDatabase({ databaseUrl: database.url, log, folder });
    await rm(join(folder, 'migrations', '2_newer'), { recursive: true });
    expect(await migrateDatabase({ databaseUrl: database.url, log, folder })).toEqual([]);
  });

  it.each([
    {
      why: 'a wrong password',
      part: 'password',
      value: 'very-secret',
      says: 'refuses the user or the password',
    },
    {
      why: 'no such database',
      part: 'pathname',
      value: '/missing',
      says: '"missing" that DATABASE_URL names',
    },
    {
      why: 'no such host',
      part: 'hostname',
      value: 'host.invalid',
      says: 'cannot reach Postgres at host.invalid',
    },
  ] as const)('says in one sentence what is wrong: $why', async ({ part, value, says }) => {
    const url = new URL(database.url);
    url[part] = value;
    const failure: unknown = await migrateDatabase({ databaseUrl: url.href, log }).catch(
      (error: unknown) => error,
    );
    expect(failure).toMatchObject({ name: 'StartupError', message: expect.stringContaining(says) });
    expect(failure).not.toMatchObject({ message: expect.stringContaining(`${url.password}@`) });
    expect(failure).not.toMatchObject({ message: expect.stringContaining('very-secret') });
  });

  it('reports in one sentence that there is no server', async () => {
    const proxy = await createCuttableProxy(database.url);
    await proxy.cut();
    const { host } = new URL(proxy.url);
    await expect(migrateDatabase({ databaseUrl: proxy.url, log })).rejects.toMatchObject({
      name: 'StartupError',
      message: `cannot reach Postgres at ${host} (ECONNREFUSED); check DATABASE_URL and that the server runs`,
    });
  });
});
