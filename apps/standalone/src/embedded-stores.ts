import type { RedisAccess } from '@model-gateway/bus';
import {
  findRedisServer,
  lockDataDir,
  startPostgres,
  startQueueRedis,
  startRedis,
} from '@model-gateway/embedded';
import { startupError, type Lifecycle, type Log } from '@model-gateway/kernel';
import type { StandaloneConfig } from './config.ts';

/** The URLs of the stores of this process. */
export interface StoreUrls {
  readonly databaseUrl: string;
  /** The Redis that processes share; undefined where this process serves alone and keeps their state itself. */
  readonly redisUrl: string | undefined;
  /** How a configured Redis is reached; nothing of it applies to the embedded one. */
  readonly redisAccess: RedisAccess;
  /** Whether no other service uses that Redis: then the usage journal is files of the data directory. */
  readonly isRedisPrivate: boolean;
  /** Whether a Redis is embedded. */
  readonly hasEmbeddedRedis: boolean;
  /** The Redis of the queues. */
  readonly queueRedisUrl: string;
}

/** Uses the configured stores and starts the others. */
export async function openEmbeddedStores(
  config: StandaloneConfig,
  lifecycle: Lifecycle,
  log: Log,
): Promise<StoreUrls> {
  const { dataDir } = config;
  await lifecycle.open(
    'data directory',
    () => lockDataDir(dataDir),
    (unlock) => unlock(),
  );
  const databaseUrl = config.databaseUrl ?? (await openPostgres(dataDir, lifecycle, log));
  if (config.redisUrl !== undefined) {
    const { redisUrl } = config;
    return {
      databaseUrl,
      redisUrl,
      redisAccess: config,
      isRedisPrivate: false,
      hasEmbeddedRedis: false,
      queueRedisUrl: redisUrl,
    };
  }
  const embeddedUrl = await openRedis(config, lifecycle, log);
  const isShared = config.processes > 1;
  if (isShared && embeddedUrl === undefined)
    throw startupError('processes_need_redis', { processes: config.processes });
  return {
    databaseUrl,
    redisUrl: isShared ? embeddedUrl : undefined,
    redisAccess: {},
    isRedisPrivate: true,
    hasEmbeddedRedis: embeddedUrl !== undefined,
    queueRedisUrl: embeddedUrl ?? (await openQueueRedis(lifecycle)),
  };
}

async function openPostgres(dataDir: string, lifecycle: Lifecycle, log: Log): Promise<string> {
  const { url } = await lifecycle.open(
    'embedded Postgres',
    () => startPostgres({ dataDir, log }),
    (store) => store.stop(),
  );
  return url;
}

async function openRedis(
  config: StandaloneConfig,
  lifecycle: Lifecycle,
  log: Log,
): Promise<string | undefined> {
  const binary = await findRedisServer(config.programPath);
  if (binary === undefined) return undefined;
  const { url } = await lifecycle.open(
    'embedded Redis',
    () => startRedis({ dataDir: config.dataDir, binary, log }),
    (store) => store.stop(),
  );
  return url;
}

async function openQueueRedis(lifecycle: Lifecycle): Promise<string> {
  const { url } = await lifecycle.open(
    'queue Redis',
    () => startQueueRedis(),
    (store) => store.stop(),
  );
  return url;
}
