import {
  createSupervisedProcess,
  exposeStores,
  openStores,
  secretOrGenerated,
  warnOfShortAdminToken,
  type SupervisedProcess,
} from '@model-gateway/server-process';
import { checkAddress, publicUrlOf } from '@model-gateway/http';
import {
  createDeferred,
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
import { createVideoWorker } from 'video-worker/app';
import { adminTokenOf } from './admin-token.ts';
import { banner } from './banner.ts';
import type { StandaloneConfig } from './config.ts';
import { openDemoBackend } from './demo-backend.ts';
import { openEmbeddedStores, type StoreUrls } from './embedded-stores.ts';
import { firstStepsOf } from './first-steps.ts';
import type { GatewayAsks, GatewayBegin } from './gateway-process.ts';
import { openServer, type ListeningAddress } from './open-server.ts';
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
  const { host, dataDir } = config;
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
  const supervised = { script: config.script, log };
  const recorder = createSupervisedProcess({
    ...supervised,
    name: 'recorder',
    environment: { NODE_OPTIONS: config.nodeOptions },
    begin: recorderBegin,
    served: serveRecorder(stores.bus),
  });
  const gateways: SupervisedProcess[] = [];
  async function snapshot(): Promise<MetricsSnapshot> {
    const ofOthers = [recorder, ...gateways].map((child) => child.metrics());
    return mergeMetrics([await own.snapshot(), ...(await Promise.all(ofOthers))]);
  }
  const expose = async (): Promise<string> => (await snapshot()).text;
  const metrics = { ...own, snapshot, expose };
  const secrets = {
    jwtSecret: await secretOrGenerated(config.jwtSecret, dataDir, 'jwt-secret'),
    agentTunnelKey: tunnelKey(encryptionKey),
    encryptionKey,
  };
  const context = {
    ...stores,
    ...secrets,
    log,
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
  const adminToken = admin.value;
  const videoWorker = createVideoWorker(
    { ...config, queueRedisUrl: urls.queueRedisUrl, queueRedisAccess: urls.redisAccess },
    context,
    { router: runtime.router, recorder },
  );

  /** Starts the gateway processes; resolves to where they listen. */
  async function openGateways(): Promise<ListeningAddress> {
    await lifecycle.start(videoWorker);
    const begin: GatewayBegin = {
      role: 'gateway',
      logLevel: config.logLevel,
      stopsOnSignals: true,
      urls,
      secrets: { ...secrets, adminToken },
      unlisted,
    };
    const listening = createDeferred<ListeningAddress>();
    const served: GatewayAsks = { listening: listening.resolve, metrics: expose };
    for (let number = 1; number <= config.processes; number += 1) {
      const name = `gateway ${number}`;
      gateways.push(createSupervisedProcess({ ...supervised, name, begin, served }));
    }
    await lifecycle.open(
      'gateway processes',
      () => Promise.all(gateways.map((gateway) => gateway.start())),
      async () => void (await Promise.all(gateways.map((gateway) => gateway.stop()))),
    );
    return listening.promise;
  }

  const { address, port } = await (config.processes > 1
    ? openGateways()
    : openServer(
        config,
        context,
        { adminToken, runtime, videoWorker, isOneOfSeveral: false, isOnlyProcess },
        lifecycle,
      ));
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
