import { chown, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  describeError,
  isDiskFull,
  generatedSecret,
  makeDirectory,
  StartupError,
  startupError,
  unwritableError,
  type Log,
} from '@model-gateway/kernel';
import { lockDataDir, writing } from './data-dir-lock.ts';
import { LOOPBACK, rememberedPort } from './loopback-port.ts';
import { findPostgresBinaries } from './postgres-binaries.ts';
import { clearCluster, ensureCluster, SUPERUSER } from './postgres-cluster.ts';
import { becomePostgresUser, postgresIdentity } from './postgres-user.ts';
import { superviseStore, type EmbeddedStore, type StoreCommand } from './supervised-store.ts';

const PASSWORD = 'postgres-password';
const START_ATTEMPTS_MAX = 20;
const START_RETRY_MS = 500;
// The processes of a killed server need a moment to exit, and another process may take the chosen port.
const TEMPORARY_ERROR =
  /pre-existing shared memory block|lock file .* already exists|address already in use|could not bind/i;

const SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: LOOPBACK,
  unix_socket_directories: '',
  max_connections: '100',
  shared_buffers: '64MB',
  // Saves memory: no separate processes for reads and for replication.
  io_method: 'sync',
  max_logical_replication_workers: '0',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // Logs messages of the server, but no statements and no values.
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  log_checkpoints: 'off',
  // Every commit is synchronous and writes its own log, so that these two have little to do: they need not look five times a second.
  bgwriter_delay: '10s',
  wal_writer_delay: '10s',
};

interface PostgresOptions {
  readonly dataDir: string;
  readonly log: Log;
  /** A fixed port; by default a free one, the same at every start if possible. */
  readonly port?: number;
  /** Additional server settings, such as `fsync: 'off'` for tests. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** Runs a real Postgres in a folder below the data directory; creates its cluster at the first start. */
export async function startPostgres(options: PostgresOptions): Promise<EmbeddedStore> {
  const dataDir = resolve(options.dataDir);
  const folder = join(dataDir, 'postgres');
  const binaries = findPostgresBinaries();
  // Before the folder of secrets, which would make its parent private too; another user may need access.
  await writing(dataDir, () => makeDirectory(dataDir, 0o711));
  const password = (await generatedSecret(dataDir, PASSWORD)).value;
  const owner = await postgresIdentity();
  await writing(dataDir, async () => {
    await makeDirectory(folder, 0o700);
    if (owner !== undefined) await chown(folder, owner.uid, owner.gid);
  });
  const unlock = await lockDataDir(folder);
  try {
    const user = await becomePostgresUser(owner, { program: binaries.postgres, folder });
    const cluster = await writing(dataDir, () =>
      ensureCluster({ folder, binaries, user, owner, password, log: options.log }),
    );
    // An orphan of an earlier run may use the saved port.
    await clearCluster(cluster);
    const started = await startOnFreePort(options, folder, (port) => ({
      name: 'Postgres',
      command: [
        ...user.prefix,
        binaries.postgres,
        '-D',
        cluster,
        '-p',
        String(port),
        ...flags(options),
      ],
      stopSignal: 'INT',
      forceSignal: 'QUIT',
      identity: user.identity,
      clear: () => clearCluster(cluster),
    }));
    return {
      url: urlOf(password, started.port),
      get pid() {
        return started.store.pid;
      },
      async stop() {
        await started.store.stop();
        await unlock();
      },
    };
  } catch (error) {
    await unlock();
    throw error;
  }
}

/** Where the Postgres of a data directory listens while it runs. */
export async function embeddedPostgresUrl(dataDir: string): Promise<string> {
  const port = await readFile(portFile(join(dataDir, 'postgres')), 'utf8').catch(() => undefined);
  if (port === undefined) {
    throw startupError('no_embedded_postgres', { folder: dataDir });
  }
  const { value: password } = await generatedSecret(dataDir, PASSWORD);
  return urlOf(password, Number(port));
}

const portFile = (folder: string): string => join(folder, 'port');

const urlOf = (password: string, port: number): string =>
  `postgres://${SUPERUSER}:${encodeURIComponent(password)}@${LOOPBACK}:${port}/postgres`;

async function startOnFreePort(
  { log, port: fixedPort }: PostgresOptions,
  folder: string,
  command: (port: number) => StoreCommand,
): Promise<{ readonly store: Pick<EmbeddedStore, 'pid' | 'stop'>; readonly port: number }> {
  for (let attempt = 1; ; attempt += 1) {
    const port = fixedPort ?? (await rememberedPort(portFile(folder)));
    try {
      return { store: await superviseStore(command(port), log), port };
    } catch (error) {
      const reason = describeError(error);
      if (attempt === START_ATTEMPTS_MAX || !TEMPORARY_ERROR.test(reason))
        throw notStarted(error, folder);
      log.warn({ attempt, reason }, 'Postgres did not start; retrying');
      await sleep(START_RETRY_MS);
    }
  }
}

function flags({ settings }: PostgresOptions): readonly string[] {
  return Object.entries({ ...SETTINGS, ...settings }).flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ]);
}

function notStarted(error: unknown, folder: string): StartupError {
  if (error instanceof StartupError) return error;
  return isDiskFull(error)
    ? unwritableError(folder, error)
    : startupError('postgres_not_started', { reason: describeError(error) }, error);
}
