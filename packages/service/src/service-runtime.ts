import { readFile } from 'node:fs/promises';
import { createConfigFile, readFileVariables } from '@model-gateway/config-file';
import { createKeyGrants } from '@model-gateway/accounts';
import { createPriceBook, type PriceBook } from '@model-gateway/billing';
import type { AppContext } from '@model-gateway/server-process';
import {
  createConversationHook,
  createExplainRoute,
  createMemoryHook,
  createMeter,
  createModelPrices,
  createQuotas,
  createRequestCounter,
  createRequestLogWriter,
  createStorageLimit,
  createUpstreamTelemetry,
  createUsageWriter,
  createVideoJobs,
  createVideoNotifications,
  type Hook,
  type Memory,
  type Meter,
  type Quotas,
  type RequestCounter,
  type RequestLogWriter,
  type StorageLimit,
  type UpstreamTelemetry,
  type VideoJobs,
} from '@model-gateway/inference';
import type { Part } from '@model-gateway/kernel';
import { createQuotaEvents } from '@model-gateway/webhooks';
import { createEntryRules } from './entry-rules.ts';
import { createServiceMemory } from './service-memory.ts';
import { createServiceRouter, type RouterOptions, type ServiceRouter } from './service-router.ts';
import type { ServiceRuntimeConfig } from './service-runtime-settings.ts';

/** What a process needs to serve models, whichever surface asks. */
export interface ServiceRuntime extends Part {
  readonly router: ServiceRouter;
  readonly telemetry: UpstreamTelemetry;
  readonly prices: PriceBook;
  readonly quotas: Quotas;
  readonly meter: Meter;
  readonly requestLogWriter: RequestLogWriter;
  readonly requests: RequestCounter;
  readonly memory: Memory;
  /** What is done for the calls of every surface. */
  readonly hooks: readonly Hook[];
  readonly videoJobs: VideoJobs;
  readonly storageLimit: StorageLimit;
  /** Where a request for a model would go now. */
  readonly explainRoute: ReturnType<typeof createExplainRoute>;
}

/** The name under which backends list a model, healthy or not, so that failed requests are counted for it. */
function servedName(router: ServiceRouter, model: string): string | undefined {
  const resolved = router.aliases.resolve(model);
  return router.list().some(({ models }) => models.includes(resolved)) ? resolved : undefined;
}

export function createServiceRuntime(
  config: ServiceRuntimeConfig,
  context: AppContext,
  options: RouterOptions & { readonly hooks?: readonly Hook[] } = {},
): ServiceRuntime {
  const { database, bus, clock, log, metrics, tracing } = context;
  const router = createServiceRouter(config, context, options);
  const configFile = createConfigFile(
    {
      file: config.configFile,
      environment: readFileVariables(),
      rules: createEntryRules(config),
      readText: (path) => readFile(path, 'utf8'),
    },
    context,
  );
  const prices = createPriceBook({
    store: database.prices,
    channels: bus.channels,
    onStoreChange: (listener) => bus.onModeChange(listener),
    log,
  });
  const requests = createRequestCounter({ counters: bus.counters, clock, log });
  const memory = createServiceMemory(config, context);
  const requestLogWriter = createRequestLogWriter({
    journal: bus.journal,
    store: database.requestLogStore,
    servedName: (model) => servedName(router, model),
    clock,
    metrics,
    log,
  });
  const usageWriter = createUsageWriter({ journal: bus.journal, log });
  return {
    name: 'service-runtime',
    router,
    prices,
    telemetry: createUpstreamTelemetry({ metrics, tracing }),
    requests,
    memory,
    hooks: [
      createConversationHook({ conversations: database.conversations, log }),
      createMemoryHook(memory),
      ...(options.hooks ?? []),
    ],
    videoJobs: createVideoJobs({
      store: database.videoJobs,
      pricing: database.videoPricing,
      admission: bus.admission,
      unfinishedPerUserMax: config.videoJobsPerUserMax,
      router,
      requests,
      notifications: createVideoNotifications({ channels: bus.channels, log }),
      channels: bus.channels,
      entries: bus.entries,
      log,
    }),
    requestLogWriter,
    explainRoute: createExplainRoute({
      router,
      keys: database.keys,
      policies: createKeyGrants(database),
      clock,
    }),
    storageLimit: createStorageLimit({
      responses: database.responses,
      bytesMax: config.storedBytesPerUserMax,
    }),
    meter: createMeter({
      writer: usageWriter,
      prices,
      limits: router.limits,
      requestLog: requestLogWriter,
      clock,
      metrics,
    }),
    quotas: createQuotas({
      store: bus.admission,
      facts: database.billingFacts,
      pointsPerUsd: config.pointsPerUsd,
      prices: createModelPrices({ prices, router }),
      callsPerUserMax: config.callsPerUserMax,
      clock,
      log,
      assertWritable: () => usageWriter.assertWritable(),
      onExceeded: createQuotaEvents({ outbox: database.outbox, clock, log }),
    }),
    async start() {
      await configFile.start();
      await prices.start();
      await router.start();
    },
    async stop() {
      await configFile.stop();
      await requestLogWriter.stop();
      await memory.stop();
      await router.stop();
      await prices.stop();
      await requests.stop();
      await usageWriter.stop();
    },
  };
}
