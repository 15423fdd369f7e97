import { startProcess, type TestProcess } from '@model-gateway/testkit';
import { registerBackend } from './gateway.ts';
import { POINTS_PER_USD } from './money/money-books.ts';

/** Processes of one installation, on stores that the test provides. */
export interface ServiceProcesses {
  start(app: 'gateway' | 'video-worker'): Promise<TestProcess>;
  /** Registers upstreams by name, over any gateway. */
  register(gateway: TestProcess, upstreams: Readonly<Record<string, HasUrl>>): Promise<void>;
  /** Stops the processes that still run. */
  stop(): Promise<void>;
}

interface HasUrl {
  readonly url: string;
}

interface ServiceStores {
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly redisPrefix: string;
  readonly dataDir: string;
}

export function createServiceProcesses(stores: ServiceStores): ServiceProcesses {
  const started: TestProcess[] = [];
  const env = {
    DATABASE_URL: stores.databaseUrl,
    REDIS_URL: stores.redisUrl,
    SERVICE_REDIS_PREFIX: stores.redisPrefix,
    SERVICE_DATA_DIR: stores.dataDir,
    SERVICE_ADMIN_TOKEN: 'the admin token of the tests',
    SERVICE_API_RATE_LIMIT_RPM: '100000',
    POINTS_PER_USD: String(POINTS_PER_USD),
  };
  return {
    async start(app) {
      const running = await startProcess({ app, env });
      started.push(running);
      return running;
    },
    async register(gateway, upstreams) {
      for (const [name, { url }] of Object.entries(upstreams)) {
        const { status } = await registerBackend(gateway, { type: 'external', name, url });
        if (status !== 200) throw new Error(`${name} was not registered: ${status}`);
      }
    },
    async stop() {
      await Promise.all(started.map((running) => running.stop()));
    },
  };
}
