import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { testPostgresTemplate, testPostgresUrl } from './config.ts';

/** A migrated, empty database for one test file. */
export interface TestDatabase {
  readonly url: string;
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
    drop: () => runOnCluster(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
  };
}

async function runOnCluster(sql: string): Promise<void> {
  const client = new Client({ connectionString: testPostgresUrl() });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
