import { createKeys } from '@model-gateway/accounts';
import type { AppContext } from '@model-gateway/host';
import {
  answerRestError,
  createCors,
  createExpressApp,
  createLeanRoutes,
  createProbes,
  pathOf,
  requestIdOf,
  SERVICE_VERSION,
  type ServerApp,
} from '@model-gateway/http';
import { createMeter, createRequestCounter } from '@model-gateway/inference';
import { createRouter, type BackendConfig } from '@model-gateway/router';
import { Router } from 'express';
import { createAdminGate } from './admin/admin-gate.ts';
import { createBackendsAdmin } from './admin/backends.ts';
import { createBackendRegistry } from './backend-registry.ts';
import { createConversationGate } from './conversation-gate.ts';
import type { GatewayConfig } from './config.ts';
import { createDocsRoutes } from './docs/routes.ts';
import { createKeyGate } from './key-gate.ts';
import { createChatRoute } from './routes/chat.ts';

export { gatewaySettings, type GatewayConfig } from './config.ts';

interface GatewayOptions {
  /** Backends that are routed to and metered like any other, but appear in no listing or count. */
  readonly unlisted?: readonly BackendConfig[];
}

/** The REST surface: `/v1/*`, `/api/admin/*`, the docs and the probes. */
export function createGateway(
  config: GatewayConfig,
  context: AppContext,
  { unlisted = [] }: GatewayOptions = {},
): ServerApp {
  const { database, bus, clock, log, metrics, stopping } = context;
  const router = createRouter({ log, probeTimeoutMs: config.probeTimeoutMs });
  const registry = createBackendRegistry({
    router,
    store: database.backendConfigs,
    channels: bus.channels,
    timeouts: {
      connectMs: config.upstreamConnectTimeoutMs,
      idleMs: config.upstreamIdleTimeoutMs,
      totalMs: config.upstreamTotalTimeoutMs,
    },
    clock,
    log,
    unlisted,
  });
  const requests = createRequestCounter({ counters: bus.counters, clock, log });
  const cors = createCors(config.corsOrigins);
  const leanRoutes = createLeanRoutes(
    [
      createChatRoute({
        keyGate: createKeyGate(
          createKeys({ keys: database.keys, memberships: database.memberships, clock }),
        ),
        router,
        meter: createMeter({ journal: bus.journal, clock, log }),
        requests,
        conversationGate: createConversationGate(database.conversations),
        bodyBytesMax: config.bodyBytesMax,
        log,
      }),
    ],
    (error, request, response) => answerRestError(error, request, response, log),
  );
  const admin = Router();
  admin.use(createAdminGate(config.adminToken));
  admin.use('/backends', createBackendsAdmin(registry));
  const routes = Router();
  routes.use('/api/admin', admin);
  routes.use(createDocsRoutes(config.publicUrl));
  const answerExpress = createExpressApp({ routes, trustProxy: config.trustProxy, log });
  const answerProbe = createProbes({
    version: SERVICE_VERSION,
    buildHash: config.buildHash,
    metrics,
    stopping,
    checks: { postgres: () => database.ping(), redis: () => bus.ping() },
    details: () => {
      const healthy = router.list().filter(({ state }) => state === 'Healthy');
      return {
        models: new Set(healthy.flatMap(({ models }) => models)).size,
        providers: healthy.map(({ backend }) => backend.name),
      };
    },
  });

  return {
    name: 'gateway',
    start: () => registry.start(),
    async stop() {
      await registry.stop();
      await requests.stop();
    },
    handle(request, response) {
      const path = pathOf(request);
      requestIdOf(request, response);
      if (cors(request, response)) return;
      if (leanRoutes(path, request, response)) return;
      if (answerProbe(request.method, path, response)) return;
      answerExpress(request, response);
    },
  };
}
