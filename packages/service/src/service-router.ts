import { createBackendFactory, createMeasuredAnswerMemory } from '@model-gateway/backends';
import { createFileEntries, type FileEntries } from '@model-gateway/config-file';
import type { AppContext } from '@model-gateway/server-process';
import type { Part } from '@model-gateway/kernel';
import {
  createStaleAgentCheck,
  createBackendAnnouncer,
  createDeployNotices,
  createRouter,
  exposeBackends,
  isTunneled,
  type BackendConfig,
  type BackendBuilder,
  type Router,
} from '@model-gateway/router';
import type { RoutingConfig } from './service-runtime-settings.ts';

/** A router that knows what the configuration file made. */
export interface ServiceRouter extends Router {
  readonly fileEntries: FileEntries;
}

export interface RouterOptions {
  /** Backends that are routed to and metered like any other, but appear in no listing or count. */
  readonly unlisted?: readonly BackendConfig[];
  /** Whether no other process can have connections of nodes. */
  readonly isOnlyProcess?: boolean;
}

/** The router of this process, on the stores that it shares with the other replicas. */
export function createServiceRouter(
  config: RoutingConfig,
  { database, bus, clock, log, metrics, tracing, agentTunnelKey }: AppContext,
  { unlisted = [], isOnlyProcess = false }: RouterOptions = {},
): ServiceRouter & Part {
  const builder = createBackendFactory({
    timeouts: {
      connectMs: config.upstreamConnectTimeoutMs,
      idleMs: config.upstreamIdleTimeoutMs,
      totalMs: config.upstreamTotalTimeoutMs,
      keepAliveMs: config.upstreamKeepAliveSecs * SECOND_MS,
    },
    answerBytesMax: config.upstreamAnswerBytesMax,
    answerMemory: createMeasuredAnswerMemory(config.upstreamAnswersBytesMax, metrics),
    bridgeUrl: config.bridgeUrl,
    clock,
    tracing,
    log,
    onMoved: (name) => void router.moved(name),
  });
  const router = createRouter({
    channels: bus.channels,
    entries: bus.entries,
    locks: bus.locks,
    requests: bus.requests,
    circuits: bus.circuits,
    limitStore: bus.backendLimits,
    store: database.backendConfigs,
    routeStore: database.routeRules,
    builder: withTunnelKey(builder, agentTunnelKey),
    unlisted,
    clock,
    log,
    rules: {
      healthIntervalMs: config.healthIntervalSecs * SECOND_MS,
      probeTimeoutMs: config.probeTimeoutMs,
      breakerFailures: config.breakerFailures,
      breakerOpenMs: config.breakerOpenSecs * SECOND_MS,
    },
  });
  const fileEntries = createFileEntries({
    store: database.fileEntries,
    channels: bus.channels,
    log,
    onAliases: (aliases) => router.aliases.fix(aliases),
  });
  exposeBackends(router, metrics);
  const { channels, entries, circuits } = bus;
  const staleAgentCheck = createStaleAgentCheck({
    connections: database.agentConnections,
    entries,
    requests: bus.requests,
    announcer: createBackendAnnouncer({ channels, entries, circuits, clock, log }),
    notices: createDeployNotices({ channels, log }),
    clock,
    log,
    timeoutMs: config.agentTimeoutSecs * SECOND_MS,
    isOnlyProcess,
  });
  let stopListening: (() => void) | undefined;
  return {
    ...router,
    fileEntries,
    name: 'router',
    async start() {
      stopListening = bus.onModeChange((mode) => {
        if (mode !== 'redis') return;
        Promise.all([router.refresh(), fileEntries.reload()]).catch((error: unknown) =>
          log.error({ error }, 'refreshing the routing table failed'),
        );
      });
      await fileEntries.start();
      await staleAgentCheck.start();
      await router.start();
    },
    async stop() {
      stopListening?.();
      await staleAgentCheck.stop();
      await router.stop();
      await fileEntries.stop();
    },
  };
}

/** The key of the tunnel is in no store: it goes with every backend that is behind the tunnel. */
function withTunnelKey(builder: BackendBuilder, apiKey: string): BackendBuilder {
  const keyed = (config: BackendConfig): BackendConfig =>
    isTunneled(config) ? { ...config, apiKey } : config;
  return {
    open: (config) => builder.open(keyed(config)),
    restore: (config) => builder.restore(keyed(config)),
  };
}

const SECOND_MS = 1_000;
