import { access, constants, readFile, writeFile } from 'node:fs/promises';
import { delimiter, join, resolve } from 'node:path';
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
import { commandLineOf, endProcess } from './process-identity.ts';
import { superviseStore, type EmbeddedStore } from './supervised-store.ts';
import { runSystemCommand } from './system-command.ts';

const PROGRAMS = ['redis-server', 'valkey-server'];
const MAJOR_VERSION_MIN = 7;
const ORPHAN_GRACE_MS = 10_000;
const START_ATTEMPTS_MAX = 5;

/** The first Redis (or Valkey) of version 7 or newer on a search path such as `PATH`. */
export async function findRedisServer(
  pathVariable: string | undefined,
): Promise<string | undefined> {
  const folders = (pathVariable ?? '').split(delimiter).filter((folder) => folder !== '');
  for (const program of folders.flatMap((folder) => PROGRAMS.map((name) => join(folder, name)))) {
    if (await isUsable(program)) return program;
  }
  return undefined;
}

interface RedisOptions {
  readonly dataDir: string;
  readonly binary: string;
  readonly log: Log;
  /** A fixed port; by default a free one, the same at every start if possible. */
  readonly port?: number;
}

/** Runs a real Redis in a folder below the data directory, with an append-only file there. */
export async function startRedis(options: RedisOptions): Promise<EmbeddedStore> {
  const dataDir = resolve(options.dataDir);
  const folder = join(dataDir, 'redis');
  const password = (await generatedSecret(dataDir, 'redis-password')).value;
  await writing(dataDir, () => makeDirectory(folder, 0o700));
  const unlock = await lockDataDir(folder);
  try {
    const { store, port } = await startOnFreePort(options, folder, password);
    return {
      url: `redis://:${encodeURIComponent(password)}@${LOOPBACK}:${port}`,
      get pid() {
        return store.pid;
      },
      async stop() {
        await store.stop();
        await unlock();
      },
    };
  } catch (error) {
    await unlock();
    if (error instanceof StartupError) throw error;
    throw isDiskFull(error)
      ? unwritableError(folder, error)
      : startupError('redis_not_started', { reason: describeError(error) }, error);
  }
}

async function startOnFreePort(
  { binary, log, port: fixedPort }: RedisOptions,
  folder: string,
  password: string,
): Promise<{ readonly store: Pick<EmbeddedStore, 'pid' | 'stop'>; readonly port: number }> {
  const configFile = join(folder, 'redis.conf');
  const pidFile = join(folder, 'redis.pid');
  // An orphan of an earlier run may use the saved port.
  await clearOrphan(pidFile, configFile);
  for (let attempt = 1; ; attempt += 1) {
    const port = fixedPort ?? (await rememberedPort(join(folder, 'port')));
    await writeFile(configFile, configuration({ folder, port, password, pidFile }), {
      mode: 0o600,
    });
    try {
      const store = await superviseStore(
        {
          name: 'Redis',
          command: [binary, configFile],
          clear: () => clearOrphan(pidFile, configFile),
        },
        log,
      );
      return { store, port };
    } catch (error) {
      if (attempt === START_ATTEMPTS_MAX || !/address already in use/i.test(describeError(error)))
        throw error;
    }
  }
}

function configuration(values: {
  readonly folder: string;
  readonly port: number;
  readonly password: string;
  readonly pidFile: string;
}): string {
  const quoted = (text: string): string => `"${text.replaceAll(/["\\]/g, '\\$&')}"`;
  return [
    `bind ${LOOPBACK}`,
    `port ${values.port}`,
    `requirepass ${quoted(values.password)}`,
    `dir ${quoted(values.folder)}`,
    `pidfile ${quoted(values.pidFile)}`,
    // The next start recognizes an orphan by the path in the title.
    'proc-title-template "{title} {config-file}"',
    'daemonize no',
    'save ""',
    'appendonly yes',
    'appendfsync everysec',
    'aof-load-truncated yes',
    // Wakes up once a second instead of ten times when nothing happens.
    'hz 1',
    '',
  ].join('\n');
}

async function clearOrphan(pidFile: string, configFile: string): Promise<void> {
  const pid = Number(await readFile(pidFile, 'utf8').catch(() => ''));
  if ((await commandLineOf(pid))?.includes(configFile) !== true) return;
  const hasEnded = await endProcess(pid, {
    stopSignal: 'SIGTERM',
    forceSignal: 'SIGKILL',
    graceMs: ORPHAN_GRACE_MS,
  });
  if (!hasEnded)
    throw startupError('store_not_stopped', { store: 'Redis', pid, folder: configFile });
}

async function isUsable(program: string): Promise<boolean> {
  try {
    await access(program, constants.X_OK);
    const version = await runSystemCommand([program, '--version']);
    return Number(/\bv=(\d+)\./.exec(version)?.[1]) >= MAJOR_VERSION_MIN;
  } catch {
    return false;
  }
}
