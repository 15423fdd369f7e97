import type { AppContext } from '@model-gateway/host';
import {
  answerNotFound,
  createProbes,
  pathOf,
  SERVICE_VERSION,
  type ServerApp,
} from '@model-gateway/http';
import type { VideoWorkerConfig } from './config.ts';
import { createRecorder } from './recorder.ts';
import { createVideoQueue } from './video-queue.ts';

export { videoWorkerSettings, type VideoWorkerConfig } from './config.ts';

/** The process behind the surfaces: records usage and moves video jobs. Its port answers probes only. */
export function createVideoWorker(config: VideoWorkerConfig, context: AppContext): ServerApp {
  const { database, bus, log, metrics, stopping } = context;
  const recorder = createRecorder({ journal: bus.journal, usage: database.usage, metrics, log });
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
      await videoQueue.start();
    },
    async stop() {
      await videoQueue.stop();
      await recorder.stop();
    },
    handle(request, response) {
      const path = pathOf(request);
      if (answerProbe(request.method, path, response)) return;
      answerNotFound(request, response, log);
    },
  };
}
