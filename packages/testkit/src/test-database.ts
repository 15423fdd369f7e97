import { createHash, randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { migrateDatabase } from '@model-gateway/db';
import { silentLog } from '@model-gateway/kernel';
import { Client } from 'pg';
import { testPostgresUrl } from './config.ts';
import { projectFolder } from './project-folder.ts';

// Any number that nobody else locks: one test process makes the template, the others wait.
const TEMPLATE_LOCK = 7_338_201;

/** A migrated, empty database that belongs to one test file. */
export interface TestDatabase {
  readonly url: string;
  drop(): Promise<void>;
}

/** Makes one, as a copy of a template that is migrated once for all test files. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  await administrate(async (client) => {
    const template = await ensureTemplate(client);
    await client.query(`CREATE DATABASE ${name} TEMPLATE ${template}`);
  });
  return {
    url: urlOf(name),
    drop: () =>
      administrate(async (client) => {
        await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      }),
  };
}

/** The template bears the hash of the migrations, so that one of an older state is never taken for the present one. */
async function ensureTemplate(client: Client): Promise<string> {
  const template = `template_${await migrationsHash()}`;
  await client.query('SELECT pg_advisory_lock($1)', [TEMPLATE_LOCK]);
  try {
    const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [
      template,
    ]);
    if (rowCount === 0) await makeTemplate(client, template);
  } finally {
    await client.query('SELECT pg_advisory_unlock($1)', [TEMPLATE_LOCK]);
  }
  return template;
}

async function makeTemplate(client: Client, template: string): Promise<void> {
  // Under another name until it is complete: a run that is stopped half-way leaves no half template.
  const draft = `${template}_new`;
  await client.query(`DROP DATABASE IF EXISTS ${draft} WITH (FORCE)`);
  await client.query(`CREATE DATABASE ${draft}`);
  await migrateDatabase({ databaseUrl: urlOf(draft), log: silentLog });
  await client.query(`ALTER DATABASE ${draft} RENAME TO ${template}`);
}

async function migrationsHash(): Promise<string> {
  const folder = join(projectFolder, 'prisma', 'migrations');
  const hash = createHash('sha256');
  for (const name of (await readdir(folder)).toSorted()) {
    const sql = await readFile(join(folder, name, 'migration.sql'), 'utf8').catch(() => '');
    hash.update(name).update(sql);
  }
  return hash.digest('hex').slice(0, 16);
}

async function administrate(work: (client: Client) => Promise<void>): Promise<void> {
  const client = new Client({ connectionString: testPostgresUrl() });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}

function urlOf(database: string): string {
  const url = new URL(testPostgresUrl());
  url.pathname = `/${database}`;
  return url.href;
}
