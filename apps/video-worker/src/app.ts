import type { AppContext } from '@model-gateway/host';
import {
  answerNotFound,
  createProbes,
  pathOf,
  SERVICE_VERSION,
  type ServerApp,
} from '@model-gateway/http';
import type { VideoWorkerConfig } from './config.ts';
import { createFactRefresh } from './fact-refresh.ts';
import { createRecorder } from './recorder.ts';
import { createVideoQueue } from './video-queue.ts';

export { videoWorkerSettings, type VideoWorkerConfig } from './config.ts';

/** The process behind the surfaces: records usage and moves video jobs. Its port answers probes only. */
export function createVideoWorker(config: VideoWorkerConfig, context: AppContext): ServerApp {
  const { database, bus, clock, log, metrics, stopping } = context;
  const recorder = createRecorder({
    journal: bus.journal,
    usage: database.usage,
    admission: bus.admission,
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
  const videoQueue = createVideoQueue({
    redisUrl: config.queueRedisUrl,
    prefix: `${config.redisPrefix}queue`,
    concurrency: config.videoConcurrency,
    steps: {},
    metrics,
    log,
  });
  const answerProbe = createProbes({
    version: SERVICE_VERSION,
    buildHash: config.buildHash,
    metrics,
    stopping,
    checks: { postgres: () => database.ping(), redis: () => bus.ping() },
  });
  return {
    name: 'video-worker',
    async start() {
      await recorder.start();
      await factRefresh.start();
      await videoQueue.start();
    },
    async stop() {
      await videoQueue.stop();
      await factRefresh.stop();
      await recorder.stop();
    },
    handle(request, response) {
      const path = pathOf(request);
      if (answerProbe(request.method, path, response)) return;
      answerNotFound(request, response, log);
    },
  };
}
