import type { Part } from '@model-gateway/kernel';
import { createResolveReceiver, createSendMail, createSendRequest } from '@model-gateway/outbound';
import type { AppContext } from '@model-gateway/server-process';
import type { Router } from '@model-gateway/router';
import { createDeliver, createWatch } from '@model-gateway/webhooks';
import { queueConnectionOf, type VideoWorkerConfig } from '../config.ts';
import { createJobQueue } from '../job-queue.ts';
import { createWebhookSweep } from './webhook-sweep.ts';
import { createWebhookWatch } from './webhook-watch.ts';

/** How many deliveries one worker attempts at a time; most of them wait for an answer. */
const CONCURRENCY = 32;
const SECOND_MS = 1_000;

/** Delivers events: the queue, the sweep that fills it, and the attempts. */
export function createWebhookRunner(
  config: VideoWorkerConfig,
  { database, bus, clock, log, metrics }: AppContext,
  router: Pick<Router, 'list'>,
): Part {
  const { outbox, deliveries, eventSources: sources } = database;
  const resolve = createResolveReceiver({ allowPrivate: config.webhookAllowPrivate });
  const send = createSendRequest({ resolve });
  const { smtpUrl, mailFrom: from } = config;
  const sendMail = smtpUrl === undefined ? undefined : createSendMail({ smtpUrl, from });
  const deliver = createDeliver({ deliveries, send, sendMail, clock, log });
  const queue = createJobQueue({
    queueName: 'webhooks',
    redis: queueConnectionOf(config),
    concurrency: CONCURRENCY,
    runStep: ({ jobId }) => deliver(jobId),
    metrics,
    log,
  });
  const sweep = createWebhookSweep({
    outbox,
    sources,
    deliveries,
    queue,
    withMail: sendMail !== undefined,
    clock,
    log,
  });
  const watch = createWebhookWatch({
    watch: createWatch({
      outbox,
      sources,
      backends: () => router.list().map(watchedBackend),
      clock,
      nodeTimeoutMs: config.agentTimeoutSecs * SECOND_MS,
    }),
    locks: bus.locks,
    log,
  });
  return {
    name: 'webhooks',
    async start() {
      await queue.start();
      await sweep.start();
      await watch.start();
    },
    async stop() {
      await watch.stop();
      await sweep.stop();
      await queue.stop();
    },
  };
}

/** A backend with refused requests is Degraded, but it answers, so it counts as healthy. */
const watchedBackend = ({ backend, state, checkedAt }: ReturnType<Router['list']>[number]) => ({
  name: backend.name,
  isHealthy: checkedAt === undefined ? undefined : state !== 'Unhealthy',
});
