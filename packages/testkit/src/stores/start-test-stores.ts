import { randomBytes } from 'node:crypto';
import { chmod, cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrateDatabase } from '@model-gateway/db';
import { findRedisServer, startPostgres, startRedis } from '@model-gateway/embedded';
import { silentLog as log } from '@model-gateway/kernel';
import { Client } from 'pg';

/** Nothing here outlives the run, so speed matters and a crash does not. */
const THROWAWAY = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  autovacuum: 'off',
  max_connections: '300',
};

/** Stores that already run; without them the tests get their own. */
interface GivenStores {
  readonly databaseUrl: string | undefined;
  readonly redisUrl: string | undefined;
}

interface TestStores {
  /** What tests find in their environment. */
  readonly environment: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

/** Starts the Postgres and the Redis that all tests of a run share, with a migrated database to copy. */
export async function startTestStores(given: GivenStores): Promise<TestStores> {
  const dataDir = await mkdtemp(join(tmpdir(), 'model-gateway-stores-'));
  const undo = [() => rm(dataDir, { recursive: true, force: true, maxRetries: 5 })];
  const stop = async (): Promise<void> => {
    for (const step of undo.toReversed()) await step();
  };
  try {
    // The user that runs Postgres has to pass through.
    await chmod(dataDir, 0o711);
    const postgres = given.databaseUrl ?? (await ownPostgres(dataDir, undo));
    const environment = {
      TEST_DATABASE_URL: postgres,
      TEST_REDIS_URL: given.redisUrl ?? (await ownRedis(dataDir, undo)),
      TEST_DATABASE_TEMPLATE: await makeTemplate(postgres, undo),
      ...(given.databaseUrl === undefined && { TEST_DATA_DIR_TEMPLATE: preparedIn(dataDir) }),
    };
    return { environment, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

type Steps = (() => Promise<void>)[];

const preparedIn = (dataDir: string) => join(dataDir, 'prepared');

/** Before it starts for good, its migrated files are copied for tests that start a Postgres of their own. */
async function ownPostgres(dataDir: string, undo: Steps): Promise<string> {
  const first = await startPostgres({ dataDir, log, settings: THROWAWAY });
  try {
    await migrateDatabase({ databaseUrl: first.url, log });
    await cheapenPassword(first.url);
  } finally {
    await first.stop();
  }
  for (const part of ['secrets', 'postgres/cluster'])
    await cp(join(dataDir, part), join(preparedIn(dataDir), part), { recursive: true });
  const postgres = await startPostgres({ dataDir, log, settings: THROWAWAY });
  undo.push(() => postgres.stop());
  return postgres.url;
}

async function ownRedis(dataDir: string, undo: Steps): Promise<string> {
  const binary = await findRedisServer(process.env['PATH']);
  if (binary === undefined)
    throw new Error('the tests need a redis-server of version 7 or newer, or REDIS_URL');
  const redis = await startRedis({ dataDir, log, binary });
  undo.push(() => redis.stop());
  return redis.url;
}

/** Stores the password with one round of hashing: a run opens thousands of connections. */
async function cheapenPassword(url: string): Promise<void> {
  const password = decodeURIComponent(new URL(url).password);
  if (!/^[\w-]+$/.test(password)) return;
  await runStatement(
    url,
    `SET scram_iterations = 1; ALTER ROLE CURRENT_USER PASSWORD '${password}'`,
  );
}

/** A test database is a copy of this one, which takes a tenth of the time of a migration. */
async function makeTemplate(clusterUrl: string, undo: Steps): Promise<string> {
  const template = `test_template_${randomBytes(6).toString('hex')}`;
  await runStatement(clusterUrl, `CREATE DATABASE ${template}`);
  undo.push(() => runStatement(clusterUrl, `DROP DATABASE ${template} WITH (FORCE)`));
  const url = new URL(clusterUrl);
  url.pathname = `/${template}`;
  await migrateDatabase({ databaseUrl: url.href, log });
  return template;
}

async function runStatement(connectionString: string, sql: string): Promise<void> {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
