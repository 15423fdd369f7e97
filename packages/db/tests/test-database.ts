import { randomBytes } from 'node:crypto';
import { silentLog } from '@model-gateway/kernel';
import { Client, type QueryResultRow } from 'pg';
import { createDatabase, type Database } from '../src/database.ts';
import { testCluster } from './config.ts';

/** A database of its own for one test file. */
export interface TestDatabase {
  readonly url: string;
  query<Row extends QueryResultRow>(sql: string, values?: readonly unknown[]): Promise<Row[]>;
  /** Removes all tables, which costs much less than another database. */
  clear(): Promise<void>;
  drop(): Promise<void>;
}

/** An empty one, for tests of the migrator itself. */
export const createTestDatabase = (): Promise<TestDatabase> => copyDatabase('template1');

/** A migrated one. */
export const createMigratedDatabase = (): Promise<TestDatabase> =>
  copyDatabase(testCluster().template);

async function copyDatabase(template: string): Promise<TestDatabase> {
  const { clusterUrl } = testCluster();
  const name = `test_db_${randomBytes(6).toString('hex')}`;
  // Copying the files takes less CPU than writing their contents to the log.
  await once(clusterUrl, `CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`);
  const url = new URL(clusterUrl);
  url.pathname = `/${name}`;
  const client = new Client({ connectionString: url.href });
  await client.connect();
  return {
    url: url.href,
    query: async <Row extends QueryResultRow>(sql: string, values: readonly unknown[] = []) =>
      (await client.query<Row>(sql, [...values])).rows,
    clear: async () => {
      await client.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
    },
    drop: async () => {
      await client.end();
      await once(clusterUrl, `DROP DATABASE ${name} WITH (FORCE)`);
    },
  };
}

async function once(url: string, sql: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

/** A migrated database with everything that the package offers on top of it. */
export interface OpenedDatabase extends Database {
  readonly raw: TestDatabase;
}

export async function openTestDatabase(
  options: { readonly encryptionKey?: string } = {},
): Promise<OpenedDatabase> {
  const raw = await createMigratedDatabase();
  const database = createDatabase({ databaseUrl: raw.url, log: silentLog, ...options });
  return {
    ...database,
    raw,
    close: async () => {
      await database.close();
      await raw.drop();
    },
  };
}
