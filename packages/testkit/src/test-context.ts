import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createBus } from '@model-gateway/bus';
import { createDatabase } from '@model-gateway/db';
import { exposeStores, type AppContext } from '@model-gateway/server-process';
import { listen, type ServerApp } from '@model-gateway/http';
import { createMetrics, randomToken, silentLog, systemClock } from '@model-gateway/kernel';
import { testRedisUrl } from './config.ts';
import { createTestDatabase } from './test-database.ts';
import { uniquePrefix } from './unique-prefix.ts';

/** The context of an app, with its own database and Redis prefix. */
export interface TestContext {
  readonly context: AppContext;
  /** Starts an app on a free port; returns its base URL. */
  serve(app: ServerApp): Promise<string>;
  /** Stops the apps, newest first, and removes the stores. */
  close(): Promise<void>;
}

/** Builds the context that a server process would build, for apps under test. */
export async function createTestContext(): Promise<TestContext> {
  const testDatabase = await createTestDatabase();
  const dataDir = await mkdtemp(join(tmpdir(), 'model-gateway-test-'));
  const stopping = new AbortController();
  const database = createDatabase({
    databaseUrl: testDatabase.url,
    log: silentLog,
    encryptionKey: Buffer.alloc(32, 7).toString('base64'),
  });
  const bus = createBus({
    redisUrl: testRedisUrl(),
    prefix: uniquePrefix(),
    dataDir,
    log: silentLog,
  });
  await bus.start();
  const metrics = createMetrics();
  exposeStores({ database, bus }, metrics);
  const closers: (() => Promise<void>)[] = [
    () => testDatabase.drop(),
    () => rm(dataDir, { recursive: true, force: true }),
    () => database.close(),
    () => bus.close(),
  ];
  return {
    context: {
      log: silentLog,
      metrics,
      clock: systemClock,
      database,
      bus,
      jwtSecret: randomToken(32),
      agentTunnelKey: randomToken(32),
      stopping: stopping.signal,
    },
    async serve(app) {
      await app.start();
      closers.push(() => app.stop());
      const server = await listen({
        app,
        host: '127.0.0.1',
        port: 0,
        log: silentLog,
        metrics,
      });
      closers.push(() => server.drain());
      return `http://127.0.0.1:${server.port}`;
    },
    async close() {
      stopping.abort();
      for (const closeOne of closers.splice(0).toReversed()) await closeOne();
    },
  };
}
