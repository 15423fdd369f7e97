import { createBus, type Bus, type RedisAccess } from '@model-gateway/bus';
import { awaitMigrations, createDatabase, migrateDatabase, type Database } from '@model-gateway/db';
import type { Lifecycle, Log } from '@model-gateway/kernel';

/** Where the stores of a process are. */
export interface StoresConfig {
  readonly databaseUrl: string;
  /** A standby for reads. */
  readonly databaseReadUrl?: string | undefined;
  /** Undefined keeps everything that Redis would share inside this process. */
  readonly redisUrl: string | undefined;
  /** How that Redis is reached besides its URL. */
  readonly redisAccess: RedisAccess;
  /** Whether no other process uses that Redis. */
  readonly isRedisPrivate?: boolean | undefined;
  readonly redisPrefix: string;
  readonly dataDir: string;
  readonly migrate: boolean;
  readonly encryptionKey: string | undefined;
}

/** The stores of one process. */
export interface ProcessStores {
  readonly database: Database;
  readonly bus: Bus;
}

/** Opens the stores of a process, once the database is migrated, by this process or by another one. */
export async function openStores(
  config: StoresConfig,
  lifecycle: Lifecycle,
  log: Log,
): Promise<ProcessStores> {
  const { databaseUrl, redisUrl, redisAccess, isRedisPrivate, dataDir, encryptionKey } = config;
  if (config.migrate) await migrateDatabase({ databaseUrl, log });
  else await awaitMigrations({ databaseUrl, log, signal: lifecycle.stopping });
  const database = await lifecycle.open(
    'database',
    () => createDatabase({ databaseUrl, readUrl: config.databaseReadUrl, log, encryptionKey }),
    (opened) => opened.close(),
  );
  const bus = await lifecycle.open(
    'bus',
    async () => {
      const prefix = config.redisPrefix;
      const opened = createBus({ dataDir, log, redisUrl, redisAccess, isRedisPrivate, prefix });
      await opened.start();
      return opened;
    },
    (opened) => opened.close(),
  );
  return { database, bus };
}
