import { checkAddress, listen, type ServerApp } from '@model-gateway/http';
import {
  createMetrics,
  runProcess,
  systemClock,
  type Lifecycle,
  type Log,
  type LogLevel,
} from '@model-gateway/kernel';
import { tunnelKey } from '@model-gateway/router';
import type { AppContext } from './app-context.ts';
import { openStores } from './open-stores.ts';
import { secretOrGenerated } from './process-secrets.ts';
import { createStartMemory } from './start-memory.ts';

interface ServerConfig {
  readonly host: string;
  readonly port: number;
  readonly dataDir: string;
  readonly logLevel: LogLevel;
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly redisPrefix: string;
  readonly migrate: boolean;
  readonly jwtSecret?: string | undefined;
  readonly encryptionKey?: string | undefined;
}

interface RunServerOptions<Config extends ServerConfig> {
  readonly name: string;
  readonly readConfig: () => Config;
  readonly create: (config: Config, context: AppContext) => ServerApp;
}

/** Runs one server app as a process of its own: stores, app, port, until a signal says stop. */
export function runServer<Config extends ServerConfig>(
  options: RunServerOptions<Config>,
): Promise<void> {
  const { name, readConfig, create } = options;
  return runProcess({
    name,
    readConfig,
    open: async (config: Config, lifecycle: Lifecycle, log: Log) => {
      const { dataDir } = config;
      await checkAddress(config.host, config.port);
      const jwtSecret = await secretOrGenerated(config.jwtSecret, dataDir, 'jwt-secret');
      const encryptionKey = await secretOrGenerated(
        config.encryptionKey,
        dataDir,
        'encryption-key',
      );
      const stores = await openStores({ ...config, encryptionKey }, lifecycle, log);
      const app = create(config, {
        ...stores,
        log,
        jwtSecret,
        agentTunnelKey: tunnelKey(encryptionKey),
        metrics: createMetrics(),
        clock: systemClock,
        stopping: lifecycle.stopping,
      });
      await lifecycle.start(app);
      await lifecycle.open(
        'port',
        () => listen({ app, host: config.host, port: config.port, log }),
        (server) => server.drain(),
      );
      await lifecycle.start(createStartMemory({ log }));
    },
  });
}
