import {
  createMeasuredBodyMemory,
  createMetricsCheck,
  listen,
  type ServerApp,
} from '@model-gateway/http';
import type { Lifecycle } from '@model-gateway/kernel';
import type { AppContext } from '@model-gateway/server-process';
import type { ServiceRuntime } from '@model-gateway/service';
import { createAgentTunnel } from 'agent-tunnel/app';
import { createGateway } from 'gateway/app';
import { createRpc } from 'rpc/app';
import { combineApps } from './combined-app.ts';
import type { StandaloneConfig } from './config.ts';

interface ServerOptions {
  readonly adminToken: string;
  readonly runtime: ServiceRuntime;
  /** Runs in this process as well, where it is the only one. */
  readonly videoWorker?: ServerApp | undefined;
  /** Whether others serve on the same port. */
  readonly isOneOfSeveral: boolean;
  /** Whether no other process has the state of this one. */
  readonly isOnlyProcess: boolean;
}

/** Where a server listens. */
export interface ListeningAddress {
  readonly address: string;
  readonly port: number;
}

/** Opens the apps that serve, and their port. */
export async function openServer(
  config: StandaloneConfig,
  context: AppContext,
  options: ServerOptions,
  lifecycle: Lifecycle,
): Promise<ListeningAddress> {
  const { host, port, drainDelaySecs, clientStallSecs } = config;
  const { adminToken, runtime, videoWorker, isOneOfSeveral, isOnlyProcess } = options;
  const { log, metrics, tracing } = context;
  const bodyMemory = createMeasuredBodyMemory(config.requestBodiesBytesMax, metrics);
  const app = combineApps(
    {
      gateway: createGateway({ ...config, adminToken }, context, {
        runtime,
        bodyMemory,
        mayReadMetrics: createMetricsCheck([adminToken, config.metricsToken]),
        sharesRequestLimit: isOneOfSeveral,
      }),
      rpc: createRpc({ ...config, adminToken }, context, { runtime, bodyMemory }),
      agentTunnel: createAgentTunnel(config, context, { isOnlyProcess }),
      videoWorker,
    },
    log,
  );
  await lifecycle.start(app);
  return lifecycle.open(
    'port',
    () => listen({ app, host, port, drainDelaySecs, clientStallSecs, log, metrics, tracing }),
    (server) => server.drain(),
  );
}
