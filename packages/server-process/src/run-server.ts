import type { RedisAccess } from '@model-gateway/bus';
import { checkAddress, listen, type ServerApp } from '@model-gateway/http';
import {
  createMetrics,
  runProcess,
  systemClock,
  type ConfigOf,
  type Lifecycle,
  type Log,
  type LogLevel,
} from '@model-gateway/kernel';
import { tunnelKey } from '@model-gateway/router';
import { openTracing, type tracingSettings } from '@model-gateway/telemetry';
import type { AppContext } from './app-context.ts';
import { exposeStores } from './expose-stores.ts';
import { openStores } from './open-stores.ts';
import { secretOrGenerated, warnOfShortAdminToken } from './process-secrets.ts';

interface ServerConfig extends ConfigOf<typeof tracingSettings>, RedisAccess {
  readonly host: string;
  readonly port: number;
  readonly dataDir: string;
  readonly drainDelaySecs: number;
  readonly clientStallSecs: number;
  readonly logLevel: LogLevel;
  readonly databaseUrl: string;
  readonly databaseReadUrl?: string | undefined;
  readonly redisUrl: string;
  readonly redisPrefix: string;
  readonly migrate: boolean;
  readonly adminToken?: string | undefined;
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
      const { host, port, dataDir, drainDelaySecs, clientStallSecs } = config;
      warnOfShortAdminToken(config.adminToken, log);
      await checkAddress(host, port);
      const jwtSecret = await secretOrGenerated(config.jwtSecret, dataDir, 'jwt-secret');
      const encryptionKey = await secretOrGenerated(
        config.encryptionKey,
        dataDir,
        'encryption-key',
      );
      const tracing = await openTracing({ name, ...config }, lifecycle, log);
      const stores = await openStores(
        { ...config, redisAccess: config, encryptionKey },
        lifecycle,
        log,
      );
      const metrics = createMetrics();
      exposeStores(stores, metrics);
      const app = create(config, {
        ...stores,
        log,
        jwtSecret,
        agentTunnelKey: tunnelKey(encryptionKey),
        metrics,
        tracing,
        clock: systemClock,
        stopping: lifecycle.stopping,
        onHangUp: (listener) => lifecycle.onHangUp(listener),
      });
      await lifecycle.start(app);
      await lifecycle.open(
        'port',
        () => listen({ app, host, port, drainDelaySecs, clientStallSecs, log, metrics, tracing }),
        (server) => server.drain(),
      );
    },
  });
}
