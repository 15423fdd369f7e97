import { mkdir } from 'node:fs/promises';
import { startRedis, type EmbeddedStore } from '@model-gateway/embedded';
import { silentLog } from '@model-gateway/kernel';
import { waitUntil } from '@model-gateway/testkit';
import { askRedis } from './ask-redis.ts';
import type { Line } from './line.ts';

interface FailOverOptions {
  readonly redis: EmbeddedStore;
  /** The proxy through which clients reach Redis. */
  readonly line: Line;
  /** The files of the replica. */
  readonly dataDir: string;
  readonly binary: string;
}

const LOOPBACK = '127.0.0.1';
const FAILOVER_MS_MAX = 10_000;

/**
 * Fails over as a managed Redis does: a replica takes over with all data, the old primary then refuses writes, and after
 * that the address leads to the new one. Returns the new primary, which its caller stops.
 */
export async function failOverRedis(options: FailOverOptions): Promise<EmbeddedStore> {
  const { redis, line, dataDir, binary } = options;
  await mkdir(dataDir, { recursive: true });
  const replica = await startRedis({ dataDir, binary, log: silentLog });
  try {
    const { password, port } = new URL(redis.url);
    const replicaUrl = new URL(replica.url);
    const key = decodeURIComponent(password);
    await askRedis(redis.url, [`CONFIG SET masterauth ${key}`]);
    await askRedis(replica.url, [
      `CONFIG SET masterauth ${key}`,
      `CONFIG SET requirepass ${key}`,
      `REPLICAOF ${LOOPBACK} ${port}`,
    ]);
    replicaUrl.password = password;
    const hasRole = (url: string, state: RegExp) => async () =>
      state.test(await askRedis(url, ['INFO replication']));
    await waitUntil(hasRole(replicaUrl.href, /^master_link_status:up/m), { what: 'a replica' });
    await askRedis(redis.url, [
      `FAILOVER TO ${LOOPBACK} ${replicaUrl.port} TIMEOUT ${FAILOVER_MS_MAX}`,
    ]);
    await waitUntil(hasRole(replicaUrl.href, /^role:master/m), { what: 'a new primary' });
    await waitUntil(hasRole(redis.url, /^role:slave/m), { what: 'an old primary' });
    line.target = Number(replicaUrl.port);
    line.cut();
    line.restore();
    return replica;
  } catch (error) {
    await replica.stop();
    throw error;
  }
}
