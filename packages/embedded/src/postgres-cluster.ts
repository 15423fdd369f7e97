import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  describeError,
  isDiskFull,
  startupError,
  unwritableError,
  type Log,
} from '@model-gateway/kernel';
import type { PostgresBinaries } from './postgres-binaries.ts';
import type { PostgresUser } from './postgres-user.ts';
import { commandLineOf, endProcess } from './process-identity.ts';
import { runSystemCommand, type Identity } from './system-command.ts';

// macOS has no C.UTF-8; its C locale sorts the same way.
const LOCALE = process.platform === 'darwin' ? 'C' : 'C.UTF-8';
const ORPHAN_GRACE_MS = 10_000;

/** The superuser of an embedded cluster. */
export const SUPERUSER = 'postgres';

interface ClusterOptions {
  /** The parent of the cluster's folder. */
  readonly folder: string;
  readonly binaries: PostgresBinaries;
  readonly user: PostgresUser;
  /** The owner of the files, if it is not the current user. */
  readonly owner: Identity | undefined;
  readonly password: string;
  readonly log: Log;
}

/** Creates the cluster unless it exists, and returns its path. A crash meanwhile leaves no incomplete cluster. */
export async function ensureCluster(options: ClusterOptions): Promise<string> {
  const { folder, owner } = options;
  const cluster = join(folder, 'cluster');
  if (await exists(join(cluster, 'PG_VERSION'))) {
    await giveTo(owner, cluster);
    return cluster;
  }
  options.log.info({ folder }, 'setting up the embedded Postgres, which takes some seconds');
  const draft = join(folder, 'cluster.new');
  const passwordFile = join(folder, 'password.new');
  await rm(draft, { recursive: true, force: true });
  await rm(passwordFile, { force: true });
  await mkdir(draft, { mode: 0o700 });
  await writeFile(passwordFile, options.password, { mode: 0o600 });
  await giveTo(owner, draft);
  await giveTo(owner, passwordFile);
  try {
    await initialize(options, draft, passwordFile);
  } finally {
    await rm(passwordFile, { force: true });
  }
  await rename(draft, cluster);
  return cluster;
}

async function initialize(
  { binaries, user }: ClusterOptions,
  cluster: string,
  passwordFile: string,
): Promise<void> {
  const initdb = [
    binaries.initdb,
    `--pgdata=${cluster}`,
    `--username=${SUPERUSER}`,
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    `--locale=${LOCALE}`,
    `--lc-messages=${LOCALE}`,
    '--encoding=UTF8',
  ];
  try {
    await runSystemCommand([...user.prefix, ...initdb], user.identity);
  } catch (error) {
    throw isDiskFull(error)
      ? unwritableError(cluster, error)
      : startupError('postgres_not_set_up', { reason: describeError(error).trim() }, error);
  }
}

/**
 * Prepares a cluster for a start after a crash. The caller has the lock of the data directory, so a server that still runs on it
 * is an orphan and is stopped.
 */
export async function clearCluster(cluster: string): Promise<void> {
  const pidFile = join(cluster, 'postmaster.pid');
  const pid = Number((await readFile(pidFile, 'utf8').catch(() => '')).split('\n')[0]);
  const commandLine = await commandLineOf(pid);
  if (commandLine === undefined) return;
  if (!commandLine.includes(cluster)) {
    // The id belongs to another process now, or to a killed server that is still a zombie. Postgres would consider either a
    // running server and not start.
    await rm(pidFile, { force: true });
    return;
  }
  const hasEnded = await endProcess(pid, {
    stopSignal: 'SIGINT',
    forceSignal: 'SIGQUIT',
    graceMs: ORPHAN_GRACE_MS,
  });
  if (!hasEnded) {
    throw startupError('store_not_stopped', { store: 'Postgres', pid, folder: cluster });
  }
}

/** Changes the owner of a path, such as of a cluster that another user created. */
async function giveTo(owner: Identity | undefined, path: string): Promise<void> {
  if (owner === undefined || (await stat(path)).uid === owner.uid) return;
  await runSystemCommand(['chown', '-R', `${owner.uid}:${owner.gid}`, path]);
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );
