import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { freePort } from '@model-gateway/kernel';
import { Redis } from 'ioredis';
import { eventually } from './eventually.ts';
import { makeTemporaryDirectory, removeDirectory } from './temporary-directory.ts';

/** A Redis of the test's own, to be killed and started again. */
export interface RedisServer {
  readonly url: string;
  start(): Promise<void>;
  /** As a crash: nothing is said to the clients. */
  kill(): Promise<void>;
  /** Stops answering with all connections open. */
  freeze(): void;
  thaw(): void;
  /** Ends the server and removes its files. */
  remove(): Promise<void>;
}

export async function createRedisServer(
  options: { readonly password?: string } = {},
): Promise<RedisServer> {
  const port = await freePort();
  const directory = await makeTemporaryDirectory();
  const credentials = options.password === undefined ? '' : `:${options.password}@`;
  const url = `redis://${credentials}127.0.0.1:${port}`;
  let server: ChildProcess | undefined;

  async function answers(): Promise<boolean> {
    const client = new Redis(url, { lazyConnect: true, retryStrategy: null });
    client.on('error', () => undefined);
    try {
      await client.connect();
    } catch {
      return false;
    }
    client.disconnect();
    return true;
  }

  async function kill(): Promise<void> {
    const killed = server;
    server = undefined;
    if (killed === undefined) return;
    const gone = once(killed, 'exit');
    killed.kill('SIGKILL');
    await gone;
  }

  return {
    url,
    async start() {
      const flags = ['--port', String(port), '--bind', '127.0.0.1', '--dir', directory];
      // Every answered write is in the file, so that a kill loses nothing that was acknowledged.
      flags.push('--save', '', '--appendonly', 'yes', '--appendfsync', 'always');
      if (options.password !== undefined) flags.push('--requirepass', options.password);
      server = spawn('redis-server', flags, { stdio: 'ignore' });
      await eventually('the Redis server answers', answers);
    },
    kill,
    freeze: () => void server?.kill('SIGSTOP'),
    thaw: () => void server?.kill('SIGCONT'),
    async remove() {
      await kill();
      await removeDirectory(directory);
    },
  };
}
