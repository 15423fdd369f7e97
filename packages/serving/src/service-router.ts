import { createBackendFactory } from '@model-gateway/backends';
import type { AppContext } from '@model-gateway/host';
import type { Part } from '@model-gateway/kernel';
import { createRouter, type BackendConfig, type Router } from '@model-gateway/router';
import type { ServingConfig } from './serving-settings.ts';

/** The router of this process, on the stores that it shares with the other replicas. */
export function createServiceRouter(
  config: ServingConfig,
  { database, bus, clock, log }: AppContext,
  unlisted: readonly BackendConfig[],
): Router & Part {
  const builder = createBackendFactory({
    timeouts: {
      connectMs: config.upstreamConnectTimeoutMs,
      idleMs: config.upstreamIdleTimeoutMs,
      totalMs: config.upstreamTotalTimeoutMs,
    },
    bridgeUrl: config.bridgeUrl,
    clock,
    log,
    onMoved: (name) => void router.probe(name),
  });
  const router = createRouter({
    channels: bus.channels,
    entries: bus.entries,
    locks: bus.locks,
    requests: bus.requests,
    circuits: bus.circuits,
    store: database.backendConfigs,
    builder,
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
  let stopListening: (() => void) | undefined;
  return {
    ...router,
    name: 'router',
    async start() {
      stopListening = bus.onModeChange((mode) => {
        if (mode !== 'redis') return;
        router.refresh().catch((error: unknown) => log.error({ error }, 'routing is out of date'));
      });
      await router.start();
    },
    async stop() {
      stopListening?.();
      await router.stop();
    },
  };
}

const SECOND_MS = 1_000;
