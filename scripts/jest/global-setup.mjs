// Gives all tests of a run one real Postgres with a migrated template database, and one real Redis: the ones named in the
// environment, else our own, which end with this process however it ends. For tests that start a Postgres of their own there
// is the path of a data directory whose Postgres is migrated already.
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, cp, mkdtemp } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

// Nothing here outlives the run, so that speed matters and a crash does not.
const THROWAWAY = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  autovacuum: 'off',
  max_connections: '300',
};

export default async function globalSetup() {
  process.env.TEST_DATABASE_URL ||= process.env.DATABASE_URL || '';
  process.env.TEST_REDIS_URL ||= process.env.REDIS_URL || '';
  // A test says what its process is configured with; nothing of the developer's own settings may leak in.
  delete process.env.DATABASE_URL;
  delete process.env.REDIS_URL;
  const { silentLog: log } = await importBuild('kernel');
  globalThis.testStores = { stores: [] };
  await startStores(log);
  process.env.TEST_DATABASE_TEMPLATE = await makeTemplate(process.env.TEST_DATABASE_URL, log);
}

async function startStores(log) {
  if (process.env.TEST_DATABASE_URL !== '' && process.env.TEST_REDIS_URL !== '') return;
  const { findRedisServer, startPostgres, startRedis } = await importBuild('embedded');
  const dataDir = await mkdtemp(join(tmpdir(), 'model-gateway-stores-'));
  await chmod(dataDir, 0o711);
  globalThis.testStores.dataDir = dataDir;
  if (process.env.TEST_DATABASE_URL === '') {
    const start = () => startPostgres({ dataDir, log, settings: THROWAWAY });
    process.env.TEST_DATA_DIR_TEMPLATE = await prepareDataDir(await start(), dataDir, log);
    const postgres = await start();
    globalThis.testStores.stores.push(postgres);
    process.env.TEST_DATABASE_URL = postgres.url;
  }
  if (process.env.TEST_REDIS_URL === '') {
    const binary = await findRedisServer(process.env.PATH);
    if (binary === undefined)
      throw new Error('the tests need a redis-server of version 7 or newer, or REDIS_URL');
    const redis = await startRedis({ dataDir, log, binary });
    globalThis.testStores.stores.push(redis);
    process.env.TEST_REDIS_URL = redis.url;
  }
}

/** Migrates the Postgres of a data directory, stops it and copies the directory. */
async function prepareDataDir(postgres, dataDir, log) {
  try {
    await migrate(postgres.url, log);
    await cheapenPassword(postgres.url);
  } finally {
    await postgres.stop();
  }
  const prepared = join(dataDir, 'prepared');
  for (const part of ['secrets', 'postgres/cluster'])
    await cp(join(dataDir, part), join(prepared, part), { recursive: true });
  return prepared;
}

/** Stores the password again with one round of hashing: a run opens thousands of connections. */
async function cheapenPassword(url) {
  const password = decodeURIComponent(new URL(url).password);
  if (!/^[\w-]+$/.test(password)) return;
  const statement = `ALTER ROLE CURRENT_USER PASSWORD '${password}'`;
  await runStatement(url, `SET scram_iterations = 1; ${statement}`);
}

/** Migrates one database, of which every test database is a copy: a copy takes a tenth of a migration's time. */
async function makeTemplate(clusterUrl, log) {
  const template = `test_template_${randomBytes(6).toString('hex')}`;
  const isOurs = process.env.TEST_DATA_DIR_TEMPLATE !== undefined;
  // The database of our own Postgres is migrated already.
  const source = isOurs ? new URL(clusterUrl).pathname.slice(1) : 'template1';
  await runStatement(clusterUrl, `CREATE DATABASE ${template} TEMPLATE ${source}`);
  globalThis.testStores.stores.push({
    stop: () => runStatement(clusterUrl, `DROP DATABASE ${template} WITH (FORCE)`),
  });
  if (!isOurs) {
    const url = new URL(clusterUrl);
    url.pathname = `/${template}`;
    await migrate(url.href, log);
  }
  return template;
}

async function migrate(databaseUrl, log) {
  const { migrateDatabase } = await importBuild('db');
  // The migrations of the sources: a build may be older.
  const folder = fileURLToPath(new URL('../../prisma', import.meta.url));
  await migrateDatabase({ databaseUrl, log, folder });
}

async function runStatement(url, sql) {
  const { Client } = createRequire(new URL('../../packages/db/package.json', import.meta.url))(
    'pg',
  );
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

async function importBuild(name) {
  const file = new URL(`../../packages/${name}/dist/index.js`, import.meta.url);
  if (!existsSync(file))
    throw new Error('the stores of the tests come from the build: run `pnpm build` first');
  return import(file.href);
}
