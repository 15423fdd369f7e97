import type { Part } from '@model-gateway/kernel';
import { createResolveReceiver, createSendRequest } from '@model-gateway/outbound';
import type { AppContext } from '@model-gateway/server-process';
import { createDeliver } from '@model-gateway/webhooks';
import type { VideoWorkerConfig } from '../config.ts';
import { createJobQueue } from '../job-queue.ts';
import { createWebhookSweep } from './webhook-sweep.ts';

/** How many deliveries one worker attempts at a time; most of them wait for an answer. */
const CONCURRENCY = 32;

/** Delivers events: the queue, the sweep that fills it, and the attempts. */
export function createWebhookRunner(
  config: VideoWorkerConfig,
  { database, clock, log, metrics }: AppContext,
): Part {
  const { outbox, deliveries } = database;
  const resolve = createResolveReceiver({ allowPrivate: config.webhookAllowPrivate });
  const send = createSendRequest({ resolve });
  const deliver = createDeliver({ deliveries, send, clock, log });
  const queue = createJobQueue({
    queueName: 'webhooks',
    redisUrl: config.queueRedisUrl,
    prefix: `${config.redisPrefix}queue`,
    concurrency: CONCURRENCY,
    runStep: ({ jobId }) => deliver(jobId),
    metrics,
    log,
  });
  const sweep = createWebhookSweep({ outbox, deliveries, queue, clock, log });
  return {
    name: 'webhooks',
    async start() {
      await queue.start();
      await sweep.start();
    },
    async stop() {
      await sweep.stop();
      await queue.stop();
    },
  };
}
