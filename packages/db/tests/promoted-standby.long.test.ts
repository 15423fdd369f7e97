import { execFile } from 'node:child_process';
import { chown, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort, newId, silentLog } from '@model-gateway/kernel';
import { Client } from 'pg';
import { startPostgres } from '../../embedded/src/index.ts';
import { createDatabase, type Database } from '../src/database.ts';
import { migrateDatabase } from '../src/migrations/migrate.ts';
import { createCuttableProxy } from './cuttable-proxy.ts';
import { usageEvent } from './usage-event.ts';

const TEST_TIMEOUT_MS = 300_000;
const RETRY_MS = 50;

const run = promisify(execFile);
const options = { pointsPerUsd: 100 };
const userId = newId();

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'postgres-failover-'));
  // Postgres runs as a user of its own where the tests run as root.
  await run('chmod', ['711', folder]);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function query(url: string, sql: string): Promise<readonly Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

/** A primary that waits for its standby, and the standby, which begins with a copy of its files. */
async function startReplicated() {
  const primaryDir = join(folder, 'primary');
  const standbyDir = join(folder, 'standby');
  const port = await freePort();
  const first = await startPostgres({ dataDir: primaryDir, port, log: silentLog });
  await migrateDatabase({ databaseUrl: first.url, log: silentLog });
  await first.stop();

  await run('cp', ['-a', primaryDir, standbyDir]);
  const cluster = join(standbyDir, 'postgres', 'cluster');
  const signal = join(cluster, 'standby.signal');
  await writeFile(signal, '');
  const { uid, gid } = await stat(cluster);
  await chown(signal, uid, gid);

  const primary = await startPostgres({
    dataDir: primaryDir,
    port,
    log: silentLog,
    settings: { synchronous_standby_names: '*' },
  });
  const { username, password } = new URL(primary.url);
  const standby = await startPostgres({
    dataDir: standbyDir,
    port: await freePort(),
    log: silentLog,
    settings: {
      primary_conninfo: `host=127.0.0.1 port=${port} user=${username} password=${decodeURIComponent(password)}`,
    },
  });
  return { primary, standby };
}

/** Records an event until it is stored, as the recorder does, and returns the codes of the failures before. */
async function record(database: Database, id: string): Promise<readonly unknown[]> {
  const codes: unknown[] = [];
  for (;;) {
    try {
      await database.usage.record([usageEvent({ id, user_id: userId })], options);
      return codes;
    } catch (error) {
      codes.push((error as { code?: unknown }).code);
      await delay(RETRY_MS);
    }
  }
}

test(
  'usage is read from a standby that follows, and recorded once by it after it was promoted',
  async () => {
    const { primary, standby } = await startReplicated();
    const proxy = await createCuttableProxy(primary.url);
    const database = createDatabase({
      databaseUrl: proxy.url,
      readUrl: standby.url,
      log: silentLog,
    });
    try {
      const ids = Array.from({ length: 30 }, () => newId());
      for (const id of ids.slice(0, 10)) expect(await record(database, id)).toEqual([]);
      // A commit waits until the standby has it; reads see it when it is replayed.
      while ((await database.requestLog.find(ids[9] ?? '')) === undefined) await delay(RETRY_MS);

      await primary.stop();
      const during = record(database, ids[10] ?? '');
      // Clients reach the standby before it takes writes.
      proxy.redirect(standby.url);
      const refused = record(database, ids[11] ?? '');
      await delay(4 * RETRY_MS);
      await query(standby.url, 'SELECT pg_promote()');
      const codes = new Set([...(await during), ...(await refused)]);
      expect([...codes]).toEqual(['store_unavailable']);
      for (const id of ids.slice(12)) await record(database, id);

      const rows = await query(
        standby.url,
        'SELECT count(*)::int AS rows, count(DISTINCT id)::int AS ids FROM usage_records',
      );
      expect(rows).toEqual([{ rows: ids.length, ids: ids.length }]);
    } finally {
      await database.close();
      await proxy.close();
      await Promise.all([primary.stop(), standby.stop()]);
    }
  },
  TEST_TIMEOUT_MS,
);
