import type { AppContext } from '@model-gateway/server-process';
import { sendNotFound, createProbes, pathOf, type ServerApp } from '@model-gateway/http';
import type { Part } from '@model-gateway/kernel';
import {
  createFactRefresh,
  createRecorder,
  createRetention,
  haltedEvent,
} from '@model-gateway/recorder';
import type { Router } from '@model-gateway/router';
import { createServiceRouter } from '@model-gateway/service';
import type { VideoWorkerConfig } from './config.ts';
import { createVideoJobRunner } from './video-job-runner.ts';
import { createWebhookRunner } from './webhooks/webhook-runner.ts';

export { runRejectedUsage } from './rejected-usage.ts';
export { runUsageSums } from './usage-sums.ts';
export { videoWorkerSettings, type VideoWorkerConfig } from './config.ts';

interface VideoWorkerOptions {
  /** Shared by several apps of one process; its creator then starts and stops it. */
  readonly router?: Router;
  /** The recorder of usage, if it runs elsewhere. */
  readonly recorder?: Part;
}

/** The background process: records usage, runs video jobs and delivers webhooks. Its port serves only probes and metrics. */
export function createVideoWorker(
  config: VideoWorkerConfig,
  context: AppContext,
  options: VideoWorkerOptions = {},
): ServerApp {
  const router = options.router ?? createServiceRouter(config, context);
  const { database, bus, clock, log, metrics } = context;
  const recorder =
    options.recorder ??
    createRecorder({
      journal: bus.journal,
      usage: database.usage,
      rejectedUsage: database.rejectedUsage,
      admission: bus.admission,
      channels: bus.channels,
      onHalted: (halted) => database.outbox.add(haltedEvent(halted)),
      pointsPerUsd: config.pointsPerUsd,
      metrics,
      log,
    });
  const factRefresh = createFactRefresh({
    facts: database.billingFacts,
    admission: bus.admission,
    locks: bus.locks,
    onStoreChange: (listener) => bus.onModeChange(listener),
    clock,
    log,
  });
  const retention = createRetention({
    requestLog: database.requestLogStore,
    responses: database.responses,
    spendSums: database.spendSums,
    locks: bus.locks,
    clock,
    log,
    rowDays: config.requestLogDays,
    bodyDays: config.requestBodiesDays,
  });
  const videoJobs = createVideoJobRunner(config, context, router);
  const webhooks = createWebhookRunner(config, context, router);
  const handleProbe = createProbes({ buildHash: config.buildHash, ...context });
  return {
    name: 'video-worker',
    routes: [],
    async start() {
      await recorder.start();
      await factRefresh.start();
      await retention.start();
      if (options.router === undefined) await router.start();
      await videoJobs.start();
      await webhooks.start();
    },
    async stop() {
      await webhooks.stop();
      await videoJobs.stop();
      if (options.router === undefined) await router.stop();
      await retention.stop();
      await factRefresh.stop();
      await recorder.stop();
    },
    handle(request, response) {
      const path = pathOf(request);
      if (handleProbe(path, request, response)) return;
      sendNotFound(request, response, log);
    },
  };
}
