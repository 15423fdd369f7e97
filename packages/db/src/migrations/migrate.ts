import { PrismaPg } from '@prisma/adapter-pg';
import { startupError, type Log } from '@model-gateway/kernel';
import { Pool } from 'pg';
import {
  listMigrations,
  prismaFolder,
  readMigrations,
  readSchema,
  type Migration,
} from './migrations.ts';
import { WHOLE_SCHEMA, withSchemaEngine } from './schema-engine.ts';
import { explainStartFailure } from '../connection/start-failure.ts';

const CONNECT_TIMEOUT_MS = 5_000;
const LOCK_WAIT_MS_MAX = 120_000;

// The number that the Prisma command line locks while it migrates, so that it and we exclude each other.
const MIGRATION_LOCK = 72_707_369;

export interface MigrateOptions {
  readonly databaseUrl: string;
  readonly log: Log;
  /** The folder with schema.prisma and migrations/; the project's own unless a test brings another. */
  readonly folder?: string;
}

/**
 * Applies all pending migrations and returns the names of the migrations that this call applied. Any number of
 * processes may call it at once: one migrates, the others wait. Everything happens in one transaction on one
 * connection, so that a failure or a killed process leaves the database as it was.
 */
export async function migrateDatabase(options: MigrateOptions): Promise<readonly string[]> {
  const { log, folder = prismaFolder() } = options;
  const names = await listMigrations(folder);
  const applied = await withConnection(options, async (pool) =>
    (await pendingOf(pool, names)).length === 0 ? [] : migrateUnderLock(pool, names, folder),
  );
  if (applied.length > 0) log.info(migrationFacts(applied), 'the database was migrated');
  return applied;
}

/** What is logged of applied migrations: a new database has too many for a line that people read. */
export const migrationFacts = (applied: readonly string[]) => ({
  count: applied.length,
  last: applied.at(-1),
});

/** The names of the pending migrations. This is cheap: no engine is loaded. */
export async function pendingMigrations(options: MigrateOptions): Promise<readonly string[]> {
  const names = await listMigrations(options.folder ?? prismaFolder());
  return withConnection(options, (pool) => pendingOf(pool, names));
}

async function withConnection<Result>(
  { databaseUrl, log }: MigrateOptions,
  work: (pool: Pool) => Promise<Result>,
): Promise<Result> {
  const pool = openSingleConnection(databaseUrl, log);
  try {
    return await work(pool);
  } catch (error) {
    throw explainStartFailure(error, databaseUrl);
  } finally {
    await pool.end();
  }
}

async function migrateUnderLock(
  pool: Pool,
  names: readonly string[],
  folder: string,
): Promise<readonly string[]> {
  await pool.query('BEGIN');
  await pool.query("SELECT set_config('lock_timeout', $1, true)", [`${LOCK_WAIT_MS_MAX}ms`]);
  await pool.query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
  // Another process may have migrated while this one waited for the lock.
  if ((await pendingOf(pool, names)).length === 0) {
    await pool.query('ROLLBACK');
    return [];
  }
  const applied = await applyMigrations(
    pool,
    await readSchema(folder),
    await readMigrations(folder, names),
  );
  // The engine took the lock once more, for the session. Behind a pooler the session goes on, and the next migration would wait.
  await pool.query('SELECT pg_advisory_unlock_all()');
  await pool.query('COMMIT');
  return applied;
}

/** The pending migrations. */
async function pendingOf(pool: Pool, names: readonly string[]): Promise<readonly string[]> {
  const table = await pool.query<{ present: boolean }>(
    "SELECT to_regclass('_prisma_migrations') IS NOT NULL AS present",
  );
  if (table.rows[0]?.present !== true) return names;
  const { rows } = await pool.query<{ migration_name: string; finished: boolean }>(
    `SELECT migration_name, finished_at IS NOT NULL AS finished FROM _prisma_migrations WHERE rolled_back_at IS NULL`,
  );
  const unfinished = rows.find((row) => !row.finished);
  if (unfinished !== undefined) {
    throw startupError('migration_unfinished', { migration: unfinished.migration_name });
  }
  const applied = new Set(rows.map((row) => row.migration_name));
  return names.filter((name) => !applied.has(name));
}

async function applyMigrations(
  pool: Pool,
  schema: string,
  migrations: readonly Migration[],
): Promise<readonly string[]> {
  const factory = new WholeScripts(pool);
  try {
    return await withSchemaEngine(factory, schema, async (engine) => {
      const { appliedMigrationNames } = await engine.applyMigrations({
        migrationsList: {
          baseDir: 'migrations',
          lockfile: { path: 'migration_lock.toml', content: 'provider = "postgresql"\n' },
          shadowDbInitScript: '',
          migrationDirectories: migrations.map(({ name, sql }) => ({
            path: name,
            migrationFile: { path: 'migration.sql', content: { tag: 'ok', value: sql } },
          })),
        },
        filters: WHOLE_SCHEMA,
      });
      return appliedMigrationNames;
    });
  } catch (error) {
    // The engine reports what went wrong after the failure, namely that the transaction is aborted.
    throw factory.failure ?? error;
  }
}

/** The stock adapter splits a script at every semicolon, which breaks function bodies. Postgres accepts a whole script. */
class WholeScripts extends PrismaPg {
  failure: unknown;

  override async connect() {
    const adapter = await super.connect();
    adapter.executeScript = async (script) => {
      try {
        await adapter.underlyingDriver().query(script);
      } catch (error) {
        this.failure = error;
        throw error;
      }
    };
    return adapter;
  }
}

/** A pool that never replaces its one connection: a second one would not be in the transaction. */
function openSingleConnection(databaseUrl: string, log: Log): Pool {
  let connections = 0;
  const pool = new Pool({
    connectionString: databaseUrl,
    max: 1,
    idleTimeoutMillis: 0,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    application_name: 'model-gateway-migrate',
    onConnect: () => {
      connections += 1;
      if (connections > 1) throw new Error('the connection was lost during the migration');
    },
  });
  pool.on('error', (error) => log.warn({ error }, 'the connection for migrations failed'));
  return pool;
}
