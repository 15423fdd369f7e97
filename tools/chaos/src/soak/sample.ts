import { Client } from 'pg';
import { askRedis } from '../deployment/ask-redis.ts';
import type { Deployment } from '../deployment/deployment.ts';
import type { Sent } from '../load/outcome.ts';
import { readMetric, readProcessStates } from '../run/processes-state.ts';
import { latencies } from './latency.ts';

/** What was measured at one moment, by the name of the measure. */
export type Sample = ReadonlyMap<string, number>;

/** Measures that grow with what was served, in Redis until it expires after a day, and are only shown. */
export const EXPECTED_GROWTH: readonly string[] = ['database: MB', 'redis: MB', 'load: requests'];

const BYTES_PER_MB = 1_048_576;

/** Measures every process, the stores, and the requests since the last sample. */
export async function takeSample(deployment: Deployment, sent: readonly Sent[]): Promise<Sample> {
  const sample = new Map<string, number>();
  for (const { name, rssMb, handles, sockets } of readProcessStates(deployment)) {
    sample.set(`${name}: memory MB`, rssMb);
    sample.set(`${name}: handles`, handles);
    sample.set(`${name}: sockets`, sockets);
  }
  for (const { name, url } of deployment.processes.values()) {
    if (url === undefined || name === 'node') continue;
    const heap = await readMetric(url, 'nodejs_heap_size_used_bytes');
    sample.set(`${name}: heap MB`, heap / BYTES_PER_MB);
  }
  const { url: redisUrl } = deployment.redis;
  sample.set('redis: MB', (await redisBytes(redisUrl)) / BYTES_PER_MB);
  sample.set('redis, never expires: MB', (await lastingBytes(redisUrl)) / BYTES_PER_MB);
  for (const [name, value] of await databaseSizes(deployment.postgres.url)) sample.set(name, value);
  sample.set('load: requests', sent.length);
  for (const [name, value] of latencies(sent)) sample.set(name, value);
  return sample;
}

async function databaseSizes(connectionString: string): Promise<ReadonlyMap<string, number>> {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    const { rows } = await client.query<{ mb: number; dead: number }>(`
      SELECT pg_database_size(current_database()) / 1048576.0::float8 AS mb,
        (SELECT sum(n_dead_tup) / greatest(sum(n_live_tup + n_dead_tup), 1)
          FROM pg_stat_user_tables)::float8 AS dead`);
    return new Map([
      ['database: MB', rows[0]?.mb ?? 0],
      ['database: dead rows share', rows[0]?.dead ?? 0],
    ]);
  } finally {
    await client.end();
  }
}

async function redisBytes(url: string): Promise<number> {
  const memory = await askRedis(url, ['INFO memory']);
  return Number(/^used_memory:(\d+)/m.exec(memory)?.[1] ?? 0);
}

const LASTING_BYTES =
  "local sum = 0 for _, key in ipairs(redis.call('KEYS', '*')) do if redis.call('TTL', key) == -1 then sum = sum + redis.call('MEMORY', 'USAGE', key) end end return sum";

/** The bytes of all keys without an expiry. */
async function lastingBytes(url: string): Promise<number> {
  const answer = await askRedis(url, [`EVAL "${LASTING_BYTES}" 0`]);
  return Number(/^:(\d+)/m.exec(answer)?.[1] ?? Number.NaN);
}
