import {
  createMetrics,
  systemClock,
  withTimeout,
  type Lifecycle,
  type Log,
  type Metrics,
} from '@model-gateway/kernel';
import type { BackendConfig } from '@model-gateway/router';
import {
  exposeStores,
  openStores,
  type Calls,
  type ChildBegin,
  type ProcessLink,
} from '@model-gateway/server-process';
import { createServiceRuntime } from '@model-gateway/service';
import { openTracing } from '@model-gateway/telemetry';
import { readStandaloneConfig } from './config.ts';
import type { StoreUrls } from './embedded-stores.ts';
import { openServer, type ListeningAddress } from './open-server.ts';

/** What a gateway process is told when it begins. */
export interface GatewayBegin extends ChildBegin {
  readonly role: 'gateway';
  readonly urls: StoreUrls;
  readonly secrets: {
    readonly adminToken: string;
    readonly encryptionKey: string;
    readonly jwtSecret: string;
    readonly agentTunnelKey: string;
  };
  readonly unlisted: readonly BackendConfig[];
}

/** What a gateway process asks of the one that started it. */
export interface GatewayAsks extends Calls {
  readonly listening: (address: ListeningAddress) => void;
  /** The metrics of all processes, as Prometheus reads them. */
  readonly metrics: (value: null) => Promise<string>;
}

const METRICS_TIMEOUT_MS = 3_000;

/** Opens one of several gateway processes that share the port and a Redis. */
export async function openGatewayProcess(
  { urls, secrets, unlisted }: GatewayBegin,
  {
    parent,
    lifecycle,
    log,
  }: {
    readonly parent: ProcessLink<GatewayAsks>;
    readonly lifecycle: Lifecycle;
    readonly log: Log;
  },
): Promise<Metrics> {
  const config = readStandaloneConfig();
  const { adminToken, encryptionKey } = secrets;
  const tracing = await openTracing({ name: 'standalone', ...config }, lifecycle, log);
  const stores = await openStores(
    { ...config, ...urls, encryptionKey, migrate: false },
    lifecycle,
    log,
  );
  const own = createMetrics();
  exposeStores(stores, own);
  const ofAll = (): Promise<string> =>
    withTimeout(parent.call('metrics', null), METRICS_TIMEOUT_MS).catch(() => own.expose());
  const context = {
    ...stores,
    ...secrets,
    log,
    metrics: { ...own, expose: ofAll },
    tracing,
    clock: systemClock,
    stopping: lifecycle.stopping,
  };
  const runtime = createServiceRuntime(config, context, { unlisted });
  await lifecycle.start(runtime);
  const options = { adminToken, runtime, isOneOfSeveral: true, isOnlyProcess: false };
  const { address, port } = await openServer(config, context, options, lifecycle);
  await parent.call('listening', { address, port });
  return own;
}
