import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { silentLog as log } from '@model-gateway/kernel';
import { fullSize } from '../../tests/config.ts';
import { createTestDatabase, type TestDatabase } from '../../tests/test-database.ts';
import { migrateApart } from './migrate-apart.ts';

const POLL_MS = 10;
const PROCESSES = fullSize(3, { small: 2 });

describe('migrating in a process of its own', () => {
  let database: TestDatabase;
  let folder: string;

  beforeAll(async () => {
    database = await createTestDatabase();
  });

  afterAll(() => database.drop());

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'migrations-'));
    await writeFile(
      join(folder, 'schema.prisma'),
      'datasource db {\n  provider = "postgresql"\n}\n',
    );
  });

  afterEach(async () => {
    await database.clear();
    await rm(folder, { recursive: true });
  });

  const addMigration = async (name: string, sql: string) => {
    await mkdir(join(folder, 'migrations', name), { recursive: true });
    await writeFile(join(folder, 'migrations', name, 'migration.sql'), sql);
  };

  const migrate = () => migrateApart({ databaseUrl: database.url, log, folder });

  const lock = () => database.query('SELECT pg_advisory_lock(72707369)');
  const unlock = () => database.query('SELECT pg_advisory_unlock(72707369)');

  const untilItWaits = async () => {
    const sql = `SELECT 1 FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'model-gateway-migrate' AND wait_event = 'advisory'`;
    while ((await database.query(sql)).length === 0) await delay(POLL_MS);
  };

  const hasTable = async (name: string) =>
    (await database.query(`SELECT 1 WHERE to_regclass('${name}') IS NOT NULL`)).length > 0;

  it('happens once when several processes start at the same time', async () => {
    await addMigration('1_good', 'CREATE TABLE good (id int);');
    const applied = await Promise.all(Array.from({ length: PROCESSES }, migrate));
    expect(applied.filter((list) => list.length > 0)).toEqual([['1_good']]);
    expect(await hasTable('good')).toBe(true);
    expect(await migrate()).toEqual([]);
  });

  it('reports with the same text why a migration failed', async () => {
    await addMigration('1_bad', 'CREATE TABLE twice (id int); CREATE TABLE twice (id int);');
    await expect(migrate()).rejects.toMatchObject({
      name: 'StartupError',
      message: expect.stringMatching(
        /could not be migrated and was left as it was: relation "twice" already exists; repair/,
      ),
    });
    expect(await hasTable('twice')).toBe(false);
  });

  it('reports that the connection was lost, and succeeds when it is tried again', async () => {
    await addMigration('1_good', 'CREATE TABLE good (id int);');
    await lock();
    const refusal = migrate().catch((error: unknown) => error);
    await untilItWaits();
    await database.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND application_name = 'model-gateway-migrate'`,
    );
    expect(await refusal).toMatchObject({
      name: 'StartupError',
      message: expect.stringContaining('was left as it was: terminating connection'),
    });
    await unlock();
    expect(await migrate()).toEqual(['1_good']);
  });

  /** Another process that migrates and says what was applied; it leads a group, as one does that a terminal starts. */
  const startAnother = () => {
    const build = new URL('../../dist/migrations/migrate-apart.js', import.meta.url).href;
    const script = `
      process.on('SIGINT', () => undefined);
      const { migrateApart } = await import(${JSON.stringify(build)});
      const log = { info: () => undefined, warn: () => undefined };
      const options = ${JSON.stringify({ databaseUrl: database.url, folder })};
      process.stdout.write((await migrateApart({ ...options, log })).join());`;
    return spawn(process.execPath, ['--input-type=module', '--eval', script], {
      detached: true,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
  };

  it('leaves signals to the process that it works for', async () => {
    await addMigration('1_good', 'CREATE TABLE good (id int);');
    await lock();
    const another = startAnother();
    const said = text(another.stdout);
    await untilItWaits();
    process.kill(-(another.pid ?? Number.NaN), 'SIGINT');
    await unlock();
    expect(await said).toBe('1_good');
  });

  it('ends with the process that it works for', async () => {
    await addMigration('1_good', 'CREATE TABLE good (id int);');
    await lock();
    const another = startAnother();
    // Its output is open for as long as one of the two lives.
    const bothGone = text(another.stdout);
    await untilItWaits();
    another.kill('SIGKILL');
    await bothGone;
    await unlock();
    expect(await hasTable('good')).toBe(false);
  });
});
