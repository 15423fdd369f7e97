import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createBus, type Bus } from '@model-gateway/bus';
import { silentLog, type Log } from '@model-gateway/kernel';
import {
  createTestContext,
  testRedisUrl,
  uniquePrefix,
  waitUntil,
  type TestContext,
} from '@model-gateway/testkit';
import { createRpc } from '../src/app.ts';
import { readRpcConfig } from '../src/config.ts';

/** Two management planes on one database and one Redis, as in two processes. */
export interface TwoServers {
  readonly test: TestContext;
  readonly urls: readonly [string, string];
  /** From now on Redis is unreachable; resolves when both servers have noticed. */
  loseRedis(): Promise<void>;
  close(): Promise<void>;
}

export async function startTwoServers(
  env: Readonly<Record<string, string>> = {},
  log?: Log,
): Promise<TwoServers> {
  const test = await createTestContext();
  const relay = await startRelay(new URL(testRedisUrl()));
  const prefix = uniquePrefix();
  const config = readRpcConfig({
    DATABASE_URL: 'postgres://unused',
    REDIS_URL: 'redis://unused',
    ...env,
  });
  const buses: Bus[] = [];
  const dataDirs: string[] = [];
  const serve = async (): Promise<string> => {
    const dataDir = await mkdtemp(join(tmpdir(), 'model-gateway-rpc-'));
    const bus = createBus({ redisUrl: relay.url, prefix, dataDir, log: silentLog });
    await bus.start();
    buses.push(bus);
    dataDirs.push(dataDir);
    return test.serve(createRpc(config, { ...test.context, bus, ...(log && { log }) }));
  };
  const urls = [await serve(), await serve()] as const;
  return {
    test,
    urls,
    async loseRedis() {
      relay.cut();
      await waitUntil(async () => buses.every((bus) => bus.mode() === 'local'), {
        what: 'servers without Redis',
      });
    },
    async close() {
      await test.close();
      for (const bus of buses) await bus.close();
      relay.cut();
      for (const dataDir of dataDirs) await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** Passes connections on to a server until it is cut. */
async function startRelay(target: URL): Promise<{ readonly url: string; cut(): void }> {
  const sockets = new Set<Socket>();
  const relay = createServer((client) => {
    const server = connect(Number(target.port), target.hostname);
    for (const socket of [client, server]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.once('close', () => {
        sockets.delete(socket);
        client.destroy();
        server.destroy();
      });
    }
    client.pipe(server).pipe(client);
  });
  relay.listen(0, '127.0.0.1');
  await once(relay, 'listening');
  const address = relay.address();
  const url = new URL(target);
  url.port = String(typeof address === 'object' ? address?.port : '');
  url.hostname = '127.0.0.1';
  return {
    url: url.href,
    cut() {
      relay.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
