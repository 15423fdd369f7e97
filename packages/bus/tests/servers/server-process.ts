import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis, type RedisOptions } from 'ioredis';
import { eventually } from '../eventually.ts';

/** A server that stops answering must not stop the test. */
const COMMAND_TIMEOUT_MS = 2_000;

type ClientOptions = Omit<RedisOptions, 'replyMapping'>;

/** One server of a deployment, with a configuration file of its own. */
export interface ServerProcess {
  readonly port: number;
  /** A client for the test, which closes it. */
  open(): Redis;
  start(): Promise<void>;
  /** As a crash: nothing is said to the clients. */
  kill(): Promise<void>;
  freeze(): void;
  thaw(): void;
}

interface ServerOptions {
  readonly binary?: string;
  readonly folder: string;
  readonly port: number;
  readonly lines: readonly string[];
  readonly isSentinel?: boolean;
  /** How the test reaches it. */
  readonly client?: ClientOptions;
}

/** Not started yet. */
export function createServerProcess(options: ServerOptions): ServerProcess {
  const { binary = 'redis-server', port, lines, isSentinel = false, client = {} } = options;
  const folder = join(options.folder, String(port));
  const configFile = join(folder, 'server.conf');
  const connection: ClientOptions = { host: '127.0.0.1', port, ...client };
  let server: ChildProcess | undefined;
  let isWritten = false;

  function open(): Redis {
    const opened = new Redis({ ...connection, commandTimeout: COMMAND_TIMEOUT_MS });
    opened.on('error', () => undefined);
    return opened;
  }

  async function answers(): Promise<boolean> {
    const probe = new Redis({ ...connection, lazyConnect: true, retryStrategy: null });
    probe.on('error', () => undefined);
    try {
      await probe.connect();
      return (await probe.ping()) === 'PONG';
    } catch {
      return false;
    } finally {
      probe.disconnect();
    }
  }

  async function writeConfiguration(): Promise<void> {
    if (isWritten) return;
    isWritten = true;
    await mkdir(folder, { recursive: true });
    const common = ['bind 127.0.0.1', `dir ${folder}`];
    if (client.tls === undefined) common.push(`port ${port}`);
    // Sentinel and Cluster write into their files.
    await writeFile(configFile, `${[...common, ...lines].join('\n')}\n`);
  }

  return {
    port,
    open,
    async start() {
      await writeConfiguration();
      const flags = isSentinel ? ['--sentinel'] : [];
      server = spawn(binary, [configFile, ...flags], { stdio: 'ignore' });
      await eventually(`the server at ${port} answers`, answers);
    },
    async kill() {
      const killed = server;
      server = undefined;
      if (killed === undefined || killed.exitCode !== null) return;
      const gone = once(killed, 'exit');
      killed.kill('SIGKILL');
      await gone;
    },
    freeze: () => void server?.kill('SIGSTOP'),
    thaw: () => void server?.kill('SIGCONT'),
  };
}

/** What keeps an entry that was acknowledged, also after a kill. */
export const DURABLE = ['save ""', 'appendonly yes', 'appendfsync always'] as const;
