import { describeError, type Clock, type Log, type Part } from '@model-gateway/kernel';
import type { DeliveryStore, EventOutbox, EventSources } from '@model-gateway/webhooks';
import type { JobQueue } from '../job-queue.ts';

interface WebhookSweepDependencies {
  readonly outbox: Pick<EventOutbox, 'publish' | 'removeOld'>;
  readonly sources: Pick<EventSources, 'addBudgetThresholds'>;
  readonly deliveries: Pick<DeliveryStore, 'due'>;
  readonly queue: Pick<JobQueue, 'add' | 'jobIds'>;
  /** Whether users get mails. */
  readonly withMail: boolean;
  readonly clock: Clock;
  readonly log: Log;
  readonly intervalMs?: number;
}

const INTERVAL_MS = 2_000;
const DAY_MS = 24 * 60 * 60 * 1_000;
const CLEANING_INTERVAL_MS = 60 * 60 * 1_000;
const DELIVERIES_KEPT_MS = 14 * DAY_MS;
/** Longer than a month: what is reported once a month must not be reported again. */
const EVENTS_KEPT_MS = 60 * DAY_MS;
const PENDING_PER_WEBHOOK_MAX = 1_000;
/** The others stay in the database, so that one receiver does not fill the queue. */
const QUEUED_PER_WEBHOOK_MAX = 50;

/** Makes the deliveries of stored events, and queues those that are due. Several processes may do it at once. */
export function createWebhookSweep(dependencies: WebhookSweepDependencies): Part {
  const {
    withMail,
    outbox,
    sources,
    deliveries,
    queue,
    clock,
    log,
    intervalMs = INTERVAL_MS,
  } = dependencies;
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;
  let cleanedAt = -Infinity;

  async function publish(): Promise<void> {
    while (await sources.addBudgetThresholds()) if (isStopped) return;
    const options = { pendingMax: PENDING_PER_WEBHOOK_MAX, withMail };
    while (await outbox.publish({ ...options, now: new Date(clock.now()) })) if (isStopped) return;
  }

  async function clean(): Promise<void> {
    const now = clock.now();
    if (now - cleanedAt < CLEANING_INTERVAL_MS) return;
    const [deliveriesBefore, eventsBefore] = [now - DELIVERIES_KEPT_MS, now - EVENTS_KEPT_MS];
    // One batch with each sweep, so that new events do not wait until all old ones are removed.
    if (!(await outbox.removeOld(new Date(deliveriesBefore), new Date(eventsBefore))))
      cleanedAt = now;
  }

  async function sweep(): Promise<void> {
    await publish();
    const due = await deliveries.due(new Date(clock.now()), QUEUED_PER_WEBHOOK_MAX);
    if (due.length > 0 && !isStopped) {
      const queued = await queue.jobIds();
      const missing = due.filter((id) => !queued.has(id));
      if (missing.length > 0) await queue.add(missing);
    }
    await clean();
  }

  function tick(): void {
    void sweep()
      .catch((error: unknown) => {
        if (!isStopped)
          log.warn({ reason: describeError(error) }, 'queueing deliveries failed; trying later');
      })
      .finally(() => {
        if (!isStopped) timer = setTimeout(tick, intervalMs).unref();
      });
  }

  return {
    name: 'webhook-sweep',
    async start() {
      tick();
    },
    // Does not wait for a running sweep: while Redis is unavailable, its calls never return.
    async stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
