import { createHash } from 'node:crypto';
import { newId, startupError, type Log } from '@model-gateway/kernel';
import { Client } from 'pg';
import { explainStartFailure } from '../connection/start-failure.ts';
import { buildIndexes, buildsIndexes } from './build-indexes.ts';
import { listMigrations, prismaFolder, readMigrations, type Migration } from './migrations.ts';

const CONNECT_TIMEOUT_MS = 5_000;
const LOCK_WAIT_MS_MAX = 120_000;

// The number that the Prisma command line locks while it migrates, so that it and we exclude each other.
const MIGRATION_LOCK = 72_707_369;
// No other lock has the number.
const INDEX_LOCK = 72_707_371;

/** All that the database was before the first release, in one migration. */
const BASELINE = '0001_init';
/** The last of the migrations that it replaces. A database that has it is what the baseline makes. */
const LAST_BEFORE_BASELINE = '20261119110000_three_cuts';

// As the Prisma command line makes it, which reads what is written here.
const CREATE_HISTORY = `
  CREATE TABLE IF NOT EXISTS _prisma_migrations (
    id VARCHAR(36) PRIMARY KEY NOT NULL,
    checksum VARCHAR(64) NOT NULL,
    finished_at TIMESTAMPTZ,
    migration_name VARCHAR(255) NOT NULL,
    logs TEXT,
    rolled_back_at TIMESTAMPTZ,
    started_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    applied_steps_count INTEGER NOT NULL DEFAULT 0
  )`;

export interface MigrateOptions {
  readonly databaseUrl: string;
  readonly log: Log;
  /** The folder with migrations/; the project's own unless a test brings another. */
  readonly folder?: string;
}

/**
 * Applies all pending migrations and returns the names of the migrations that this call applied. Any number of
 * processes may call it at once: one migrates, the others wait. Everything happens in one transaction on one
 * connection, so that a failure or a killed process leaves the database as it was. Only indexes that do not hold up writers come
 * after it, one by one.
 */
export async function migrateDatabase(options: MigrateOptions): Promise<readonly string[]> {
  const { log, folder = prismaFolder() } = options;
  const names = await listMigrations(folder);
  const applied = await withConnection(options, async (client) => {
    if (without(names, await appliedIn(client)).length === 0) return [];
    const changed = await migrateUnderLock(client, names, folder);
    if (without(names, await appliedIn(client)).length === 0) return changed;
    const built = await withConnection(options, (builder) =>
      buildUnderLock(client, builder, names, folder),
    );
    return [...changed, ...built];
  });
  // A new database has too many for a line that people read.
  if (applied.length > 0)
    log.info({ count: applied.length, last: applied.at(-1) }, 'the database was migrated');
  return applied;
}

/** The names of the pending migrations, without those on which nothing but speed depends. */
export async function pendingMigrations(options: MigrateOptions): Promise<readonly string[]> {
  const { folder = prismaFolder() } = options;
  const names = await listMigrations(folder);
  return withConnection(options, async (client) => {
    const pending = await readMigrations(folder, without(names, await appliedIn(client)));
    return pending.filter(({ sql }) => !buildsIndexes(sql)).map(({ name }) => name);
  });
}

async function withConnection<Result>(
  { databaseUrl, log }: MigrateOptions,
  work: (client: Client) => Promise<Result>,
): Promise<Result> {
  const client = new Client({
    connectionString: databaseUrl,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    application_name: 'model-gateway-migrate',
  });
  client.on('error', (error) => log.warn({ error }, 'the connection for migrations failed'));
  try {
    await client.connect();
    return await work(client);
  } catch (error) {
    throw explainStartFailure(error, databaseUrl);
  } finally {
    await client.end();
  }
}

async function migrateUnderLock(
  client: Client,
  names: readonly string[],
  folder: string,
): Promise<readonly string[]> {
  await client.query('BEGIN');
  await client.query("SELECT set_config('lock_timeout', $1, true)", [`${LOCK_WAIT_MS_MAX}ms`]);
  await client.query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
  // Another process may have migrated while this one waited for the lock.
  const applied = await appliedIn(client);
  const pending = (await readMigrations(folder, without(names, applied))).filter(
    ({ sql }) => !buildsIndexes(sql),
  );
  await client.query(CREATE_HISTORY);
  for (const migration of pending) {
    if (migration.name === BASELINE && applied.size > 0) await adopt(client, applied);
    else await client.query(migration.sql);
    await note(client, migration);
  }
  await client.query('COMMIT');
  return pending.map(({ name }) => name);
}

/**
 * Applies the migrations that are left, all of which build indexes. That is done outside of a transaction, so another connection
 * holds the lock. A process that does not get it goes on without: Postgres would wait for whoever waits here.
 */
async function buildUnderLock(
  guard: Client,
  client: Client,
  names: readonly string[],
  folder: string,
): Promise<readonly string[]> {
  await guard.query('BEGIN');
  // Without parameters: with some, the answered query would keep its snapshot, which Postgres waits for.
  const lock = await guard.query<{ isMine: boolean }>(
    `SELECT pg_try_advisory_xact_lock(${INDEX_LOCK}) AS "isMine"`,
  );
  if (lock.rows[0]?.isMine !== true) return [];
  await client.query("SELECT set_config('lock_timeout', $1, false)", [`${LOCK_WAIT_MS_MAX}ms`]);
  const pending = without(names, await appliedIn(client));
  for (const migration of await readMigrations(folder, pending)) {
    await buildIndexes(client, migration.sql);
    await note(client, migration);
  }
  return pending;
}

/** A database of an earlier version is what the baseline makes, once it has all the migrations that the baseline replaces. */
async function adopt(client: Client, applied: ReadonlySet<string>): Promise<void> {
  if (!applied.has(LAST_BEFORE_BASELINE))
    throw startupError('migration_too_old', { migration: [...applied].toSorted().at(-1) ?? '' });
  await client.query('DELETE FROM _prisma_migrations');
}

const note = (client: Client, { name, sql }: Migration): Promise<unknown> =>
  client.query(
    `INSERT INTO _prisma_migrations (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
     VALUES ($1, $2, $3, clock_timestamp(), clock_timestamp(), 1)`,
    [newId(), createHash('sha256').update(sql).digest('hex'), name],
  );

const without = (names: readonly string[], applied: ReadonlySet<string>): readonly string[] =>
  names.filter((name) => !applied.has(name));

/** The migrations that the database has. */
async function appliedIn(client: Client): Promise<ReadonlySet<string>> {
  // Not `to_regclass`: within a transaction it does not see a table that another one made meanwhile.
  const table = await client.query<{ present: boolean }>(
    `SELECT EXISTS (
       SELECT FROM pg_class
       WHERE relname = '_prisma_migrations' AND relnamespace::regnamespace::text = ANY (current_schemas(false))
     ) AS present`,
  );
  if (table.rows[0]?.present !== true) return new Set();
  const { rows } = await client.query<{ migration_name: string; finished: boolean }>(
    `SELECT migration_name, finished_at IS NOT NULL AS finished FROM _prisma_migrations WHERE rolled_back_at IS NULL`,
  );
  const unfinished = rows.find((row) => !row.finished);
  if (unfinished !== undefined) {
    throw startupError('migration_unfinished', { migration: unfinished.migration_name });
  }
  return new Set(rows.map((row) => row.migration_name));
}
