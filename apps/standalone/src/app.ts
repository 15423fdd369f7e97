import {
  createSupervisedProcess,
  exposeStores,
  openStores,
  secretOrGenerated,
  warnOfShortAdminToken,
} from '@model-gateway/server-process';
import {
  checkAddress,
  createMeasuredBodyMemory,
  createMetricsCheck,
  listen,
  publicUrlOf,
} from '@model-gateway/http';
import {
  createMetrics,
  mergeMetrics,
  systemClock,
  type Lifecycle,
  type Log,
  type MetricsSnapshot,
} from '@model-gateway/kernel';
import { publishAddress } from '@model-gateway/embedded';
import { tunnelKey } from '@model-gateway/router';
import { createServiceRuntime } from '@model-gateway/service';
import { openTracing } from '@model-gateway/telemetry';
import { createAgentTunnel } from 'agent-tunnel/app';
import { createGateway } from 'gateway/app';
import { createRpc } from 'rpc/app';
import { createVideoWorker } from 'video-worker/app';
import { adminTokenOf } from './admin-token.ts';
import { banner } from './banner.ts';
import { combineApps } from './combined-app.ts';
import type { StandaloneConfig } from './config.ts';
import { openDemoBackend } from './demo-backend.ts';
import { openEmbeddedStores, type StoreUrls } from './embedded-stores.ts';
import { firstStepsOf } from './first-steps.ts';
import { serveRecorder, type RecorderBegin } from './recorder-process.ts';

/** Opens the missing stores, every server app, the demo backend and one port. */
export async function openStandalone(
  config: StandaloneConfig & {
    /** What other processes of the service run. */
    readonly script: string;
  },
  lifecycle: Lifecycle,
  log: Log,
): Promise<void> {
  const { host, dataDir, drainDelaySecs, clientStallSecs } = config;
  const notice = await openNotice(lifecycle);
  warnOfShortAdminToken(config.adminToken, log);
  warnOfUnknownSettings(config, log);
  await checkAddress(host, config.port);
  const urls = await openEmbeddedStores(config, lifecycle, log);
  const admin = await adminTokenOf(config, process.stdout.isTTY);
  const encryptionKey = await secretOrGenerated(config.encryptionKey, dataDir, 'encryption-key');
  const tracing = await openTracing({ name: 'standalone', ...config }, lifecycle, log);
  const storesConfig = { ...config, ...urls, encryptionKey };
  const stores = await openStores(storesConfig, lifecycle, log);
  const own = createMetrics();
  exposeStores(stores, own);
  const recorderBegin: RecorderBegin = {
    role: 'recorder',
    logLevel: config.logLevel,
    stopsOnSignals: false,
    stores: { ...storesConfig, migrate: false },
    pointsPerUsd: config.pointsPerUsd,
  };
  const recorder = createSupervisedProcess({
    name: 'recorder',
    script: config.script,
    begin: recorderBegin,
    served: serveRecorder(stores.bus),
    log,
  });
  const snapshot = async (): Promise<MetricsSnapshot> =>
    mergeMetrics([await own.snapshot(), await recorder.metrics()]);
  const metrics = { ...own, snapshot, expose: async () => (await snapshot()).text };
  const context = {
    ...stores,
    log,
    jwtSecret: await secretOrGenerated(config.jwtSecret, dataDir, 'jwt-secret'),
    agentTunnelKey: tunnelKey(encryptionKey),
    metrics,
    tracing,
    clock: systemClock,
    stopping: lifecycle.stopping,
    onHangUp: (listener: () => void) => lifecycle.onHangUp(listener),
  };
  const unlisted = config.demo ? [await openDemoBackend(lifecycle)] : [];
  const isOnlyProcess = urls.redisUrl === undefined;
  const runtime = createServiceRuntime(config, context, { unlisted, isOnlyProcess });
  await lifecycle.start(runtime);
  const bodyMemory = createMeasuredBodyMemory(config.requestBodiesBytesMax, metrics);
  const app = combineApps(
    {
      gateway: createGateway({ ...config, adminToken: admin.value }, context, {
        runtime,
        bodyMemory,
        mayReadMetrics: createMetricsCheck([admin.value, config.metricsToken]),
      }),
      rpc: createRpc({ ...config, adminToken: admin.value }, context, { runtime, bodyMemory }),
      agentTunnel: createAgentTunnel(config, context, { isOnlyProcess }),
      videoWorker: createVideoWorker(
        { ...config, queueRedisUrl: urls.queueRedisUrl, queueRedisAccess: urls.redisAccess },
        context,
        { router: runtime.router, recorder },
      ),
    },
    log,
  );
  await lifecycle.start(app);
  const { address, port } = await lifecycle.open(
    'port',
    () =>
      listen({
        app,
        host,
        port: config.port,
        drainDelaySecs,
        clientStallSecs,
        log,
        metrics,
        tracing,
      }),
    (server) => server.drain(),
  );
  // Opened after the port, so that it is gone before the port closes.
  await lifecycle.open(
    'address of the service',
    () => publishAddress(dataDir, { host: address, port }),
    (remove) => remove(),
  );
  const firstSteps = await firstStepsOf({
    users: stores.database.users,
    dataDir,
    registrationOpen: config.registrationOpen,
    isTerminal: process.stdout.isTTY,
  });
  notice.show(
    banner({
      baseUrl: publicUrlOf(config, port),
      adminToken: admin.shown,
      demo: config.demo,
      firstSteps,
      stores: describeStores(config, urls),
      commandLine: config.commandLine,
    }),
  );
}

/** The banner; as the first part that opens, it says at the end that everything has stopped. */
async function openNotice(lifecycle: Lifecycle): Promise<{ show(banner: string): void }> {
  let isShown = false;
  await lifecycle.open(
    'banner',
    () => undefined,
    async () => {
      if (isShown) process.stdout.write('Stopped.\n');
    },
  );
  return {
    show(text) {
      process.stdout.write(text);
      isShown = true;
    },
  };
}

function warnOfUnknownSettings({ unknownSettings }: StandaloneConfig, log: Log): void {
  for (const { name, similar } of unknownSettings) {
    const remedy =
      similar === undefined ? 'docs/reference/configuration.md lists them' : `use ${similar}`;
    log.warn({ name, remedy }, 'there is no setting of this name');
  }
}

function describeStores(config: StandaloneConfig, urls: StoreUrls): string {
  const postgres =
    config.databaseUrl === undefined ? 'embedded Postgres' : 'Postgres of DATABASE_URL';
  if (config.redisUrl !== undefined) return `${postgres}, Redis of REDIS_URL`;
  const redis = urls.hasEmbeddedRedis ? 'embedded Redis' : 'an in-process store';
  return `${postgres} and ${redis}, in ${config.dataDir}`;
}
