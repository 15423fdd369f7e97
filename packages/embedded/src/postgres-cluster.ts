import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describeError, StartupError } from '@model-gateway/kernel';
import type { PostgresBinaries } from './postgres-binaries.ts';
import type { PostgresUser } from './postgres-user.ts';
import { commandLineOf, endProcess } from './process-identity.ts';
import { runSystemCommand, type Identity } from './system-command.ts';

// macOS knows no C.UTF-8; its plain C sorts the same way.
const LOCALE = process.platform === 'darwin' ? 'C' : 'C.UTF-8';
const ORPHAN_GRACE_MS = 10_000;

/** The superuser of an embedded cluster. */
export const SUPERUSER = 'postgres';

interface ClusterOptions {
  /** Where the cluster's own folder lies. */
  readonly folder: string;
  readonly binaries: PostgresBinaries;
  readonly user: PostgresUser;
  /** To whom the files must belong, if not to us. */
  readonly owner: Identity | undefined;
  readonly password: string;
}

/** Makes the cluster unless it exists, and says where it is. A crash half-way leaves nothing that looks finished. */
export async function ensureCluster(options: ClusterOptions): Promise<string> {
  const { folder, owner } = options;
  const cluster = join(folder, 'cluster');
  if (await exists(join(cluster, 'PG_VERSION'))) {
    await giveTo(owner, cluster);
    return cluster;
  }
  const draft = join(folder, 'cluster.new');
  const passwordFile = join(folder, 'password.new');
  await rm(draft, { recursive: true, force: true });
  await rm(passwordFile, { force: true });
  await mkdir(draft, { mode: 0o700 });
  await writeFile(passwordFile, options.password, { mode: 0o600 });
  await giveTo(owner, draft);
  await giveTo(owner, passwordFile);
  try {
    await initialise(options, draft, passwordFile);
  } finally {
    await rm(passwordFile, { force: true });
  }
  await rename(draft, cluster);
  return cluster;
}

async function initialise(
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
    throw new StartupError(
      `the embedded Postgres could not be set up: ${describeError(error).trim()}`,
    );
  }
}

/**
 * Readies a cluster whose last run did not end well. Whoever calls this holds the data directory, so that a server which
 * still runs on it is an orphan, and is stopped.
 */
export async function clearCluster(cluster: string): Promise<void> {
  const pidFile = join(cluster, 'postmaster.pid');
  const pid = Number((await readFile(pidFile, 'utf8').catch(() => '')).split('\n')[0]);
  const commandLine = await commandLineOf(pid);
  if (commandLine === undefined) return;
  if (!commandLine.includes(cluster)) {
    // The id belongs to a stranger now, or to a server that was killed and whose end nobody has noticed yet; Postgres
    // would take either for a running server and refuse to start.
    await rm(pidFile, { force: true });
    return;
  }
  const gone = await endProcess(pid, {
    stopSignal: 'SIGINT',
    forceSignal: 'SIGQUIT',
    graceMs: ORPHAN_GRACE_MS,
  });
  if (!gone) {
    throw new StartupError(
      `an earlier Postgres (process ${pid}) on ${cluster} does not stop; end it first`,
    );
  }
}

/** Hands over what belongs to somebody else, such as a cluster that was made before by another user. */
async function giveTo(owner: Identity | undefined, path: string): Promise<void> {
  if (owner === undefined || (await stat(path)).uid === owner.uid) return;
  await runSystemCommand(['chown', '-R', `${owner.uid}:${owner.gid}`, path]);
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );
