import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findRedisServer, startRedis } from '@model-gateway/embedded';
import { silentLog } from '@model-gateway/kernel';
import { testPostgresUrl } from '@model-gateway/testkit';
import { Client } from 'pg';

/** An empty database and an empty Redis, for one installation. */
export interface Stores {
  readonly databaseUrl: string;
  readonly redisUrl: string;
  query<Row extends object>(text: string, values?: readonly unknown[]): Promise<readonly Row[]>;
  close(): Promise<void>;
}

export async function openStores(): Promise<Stores> {
  const name = `deployment_${randomBytes(8).toString('hex')}`;
  const databaseUrl = new URL(testPostgresUrl());
  databaseUrl.pathname = `/${name}`;
  await runQuery(testPostgresUrl(), `CREATE DATABASE ${name}`);
  const dataDir = await mkdtemp(join(tmpdir(), 'model-gateway-redis-'));
  const binary = await findRedisServer(process.env['PATH']);
  if (binary === undefined) throw new Error('this test needs a redis-server');
  const redis = await startRedis({ dataDir, log: silentLog, binary });
  return {
    databaseUrl: databaseUrl.href,
    redisUrl: redis.url,
    query: (text, values) => runQuery(databaseUrl.href, text, values),
    async close() {
      await redis.stop();
      await rm(dataDir, { recursive: true, force: true });
      await runQuery(testPostgresUrl(), `DROP DATABASE ${name} WITH (FORCE)`);
    },
  };
}

async function runQuery<Row extends object>(
  connectionString: string,
  text: string,
  values: readonly unknown[] = [],
): Promise<readonly Row[]> {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    return (await client.query<Row>(text, [...values])).rows;
  } finally {
    await client.end();
  }
}
