import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createPasswords } from '@model-gateway/accounts';
import { createBus, type Bus } from '@model-gateway/bus';
import { createDatabase } from '@model-gateway/db';
import { exposeStores, type AppContext } from '@model-gateway/server-process';
import { listen, type ServerApp } from '@model-gateway/http';
import { createLog, createMetrics, randomToken, systemClock } from '@model-gateway/kernel';
import { testRedisUrl } from './config.ts';
import { watchSecret, watchText } from './secret-watch.ts';
import { createTestDatabase } from './test-database.ts';
import { uniquePrefix } from './unique-prefix.ts';

/** The context of an app, with its own database and Redis prefix. */
export interface TestContext {
  readonly context: AppContext;
  /** Rows that no store shows. */
  query(sql: string, values?: readonly unknown[]): Promise<readonly Record<string, unknown>[]>;
  /** Begins all keys of this context on Redis. */
  readonly redisPrefix: string;
  /** The context of another process on the same database and Redis. */
  openPeer(): Promise<AppContext>;
  /** Starts an app on a free port; returns its base URL. */
  serve(app: ServerApp, limits?: { readonly clientStallSecs?: number }): Promise<string>;
  /** Stops the apps, newest first, and removes the stores. */
  close(): Promise<void>;
}

interface TestContextOptions {
  /** The address under which the context reaches a store: of Postgres first, then of the Redis of each process. */
  readonly reach?: (storeUrl: string) => Promise<string>;
}

/** A hash of full cost takes a quarter of a second of CPU time. */
const CHEAP_PASSWORDS = { memoryCost: 1024, timeCost: 2, parallelism: 1 };

/** Builds the context that a server process would build, for apps under test. */
export async function createTestContext({
  reach = (storeUrl) => Promise.resolve(storeUrl),
}: TestContextOptions = {}): Promise<TestContext> {
  const testDatabase = await createTestDatabase();
  const dataDir = await mkdtemp(join(tmpdir(), 'model-gateway-test-'));
  const stopping = new AbortController();
  const log = createLog({
    level: 'info',
    app: 'test',
    destination: { write: (line) => watchText('the log of a test', line) },
  });
  const jwtSecret = randomToken(32);
  const agentTunnelKey = randomToken(32);
  watchSecret('the JWT secret', jwtSecret);
  watchSecret('the key of the tunnel', agentTunnelKey);
  const database = createDatabase({
    databaseUrl: await reach(testDatabase.url),
    log,
    encryptionKey: Buffer.alloc(32, 7).toString('base64'),
  });
  const redisPrefix = uniquePrefix();
  let busCount = 0;
  const openBus = async (): Promise<Bus> => {
    busCount += 1;
    const opened = createBus({
      redisUrl: await reach(testRedisUrl()),
      prefix: redisPrefix,
      // As in a deployment: without Redis a recorder takes all files of its data directory.
      dataDir: join(dataDir, `process-${busCount}`),
      log,
    });
    await opened.start();
    return opened;
  };
  const bus = await openBus();
  const metrics = createMetrics();
  exposeStores({ database, bus }, metrics);
  const closers: (() => Promise<void>)[] = [
    () => testDatabase.drop(),
    () => rm(dataDir, { recursive: true, force: true }),
    () => database.close(),
    () => bus.close(),
  ];
  const context: AppContext = {
    log,
    metrics,
    clock: systemClock,
    database,
    bus,
    jwtSecret,
    agentTunnelKey,
    passwords: createPasswords(CHEAP_PASSWORDS),
    stopping: stopping.signal,
  };
  return {
    context,
    query: (sql, values) => testDatabase.query(sql, values),
    redisPrefix,
    async openPeer() {
      const peer = await openBus();
      closers.push(() => peer.close());
      return { ...context, bus: peer, metrics: createMetrics() };
    },
    async serve(app, { clientStallSecs } = {}) {
      await app.start();
      closers.push(() => app.stop());
      const server = await listen({
        app,
        host: '127.0.0.1',
        port: 0,
        log,
        metrics,
        clientStallSecs,
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
