import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { testPostgresTemplate, testPostgresUrl } from './config.ts';

/** A migrated, empty database for one test file. */
export interface TestDatabase {
  readonly url: string;
  /** Rows that no store shows. */
  query(sql: string, values?: readonly unknown[]): Promise<readonly Record<string, unknown>[]>;
  drop(): Promise<void>;
}

/** Makes one, as a copy of the template that the set-up of the run has migrated. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  // Copying the files takes less CPU than writing their contents to the log.
  await runOnCluster(
    `CREATE DATABASE ${name} TEMPLATE ${testPostgresTemplate()} STRATEGY FILE_COPY`,
  );
  const url = new URL(testPostgresUrl());
  url.pathname = `/${name}`;
  return {
    url: url.href,
    query: (sql, values) => runOn(url.href, sql, values),
    drop: async () => void (await runOnCluster(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)),
  };
}

const runOnCluster = (sql: string) => runOn(testPostgresUrl(), sql);

async function runOn(
  connectionString: string,
  sql: string,
  values: readonly unknown[] = [],
): Promise<readonly Record<string, unknown>[]> {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql, [...values])).rows;
  } finally {
    await client.end();
  }
}
