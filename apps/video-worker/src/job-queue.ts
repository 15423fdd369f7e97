import type { QueueConnection } from '@model-gateway/bus';
import {
  describeError,
  withTimeout,
  type Log,
  type Metrics,
  type Part,
} from '@model-gateway/kernel';
import { DelayedError, Queue, Worker, type Job, type RedisQueueBackend } from 'bullmq';

/** What a step passes to the next step of the same job. It is lost with the queue, so nothing may depend on it. */
export interface StepMemo {
  /** How many consecutive times the upstream failed, for the pause before the next query. */
  readonly failures?: number;
  /** How many consecutive responses could not be parsed. */
  readonly unreadable?: number;
  /** A task that the upstream accepted but that could not be stored. */
  readonly taskId?: string;
}

/** A job that is due for its next step. */
export interface JobStep {
  readonly jobId: string;
  readonly memo: StepMemo;
  /** Whether the previous worker of the job crashed or stalled. */
  readonly isTakenOver: boolean;
}

/** When the same job is due again. */
export interface NextStep {
  readonly afterMs: number;
  readonly memo?: StepMemo;
}

/** Runs one step of a job; undefined after the last step. */
export type RunJobStep = (step: JobStep) => Promise<NextStep | undefined>;

/** The queue that schedules jobs. The rows in the database are authoritative. */
export interface JobQueue extends Part {
  /** Adds jobs that are not in the queue yet. */
  add(jobIds: readonly string[]): Promise<void>;
  /** Every job in the queue: waiting, delayed or active. */
  jobIds(): Promise<ReadonlySet<string>>;
}

/** The queues of this process. */
const QUEUES = {
  video: { metric: 'service_video_queue_depth', help: 'Video jobs that are waiting or delayed.' },
  webhooks: {
    metric: 'service_webhook_queue_depth',
    help: 'Deliveries of events that are waiting or delayed.',
  },
} as const;

interface JobQueueDependencies {
  readonly queueName: keyof typeof QUEUES;
  readonly redis: QueueConnection;
  /** How many jobs are processed at a time. */
  readonly concurrency: number;
  readonly runStep: RunJobStep;
  readonly metrics: Metrics;
  readonly log: Log;
}

const STEP_NAME = 'move';
/** The jobs of a worker that does not renew its locks for this time go to other workers. */
const STALLED_AFTER_MS = 10_000;
const STALLED_CHECK_MS = 5_000;
/** A step mostly fails because a store is unavailable. */
const FAILURE_PAUSE_MS = 2_000;
/** A Redis that does not answer within this time counts as unavailable. */
const REDIS_TIMEOUT_MS = 1_000;
/** A Redis that is lost, or whose disk is full, fails several times a second. */
const WARNING_EVERY_MS = 60_000;
/** Below the time that a process has for its stop. Other workers continue what is not finished by then. */
const CLOSE_TIMEOUT_MS = 30_000;

export function createJobQueue(dependencies: JobQueueDependencies): JobQueue {
  const { queueName, concurrency, runStep, metrics, log } = dependencies;
  const { connection, prefix } = dependencies.redis;
  let queue: Queue<StepMemo> | undefined;
  let worker: Worker<StepMemo> | undefined;
  const running = new Set<Promise<unknown>>();
  let nextWarningAt = 0;

  async function run(job: Job<StepMemo>, token: string | undefined): Promise<void> {
    const { id: jobId = '', data: memo } = job;
    const isTakenOver = job.stalledCounter > 0;
    const step = runStep({ jobId, memo, isTakenOver }).catch((error: unknown): NextStep => {
      log.warn(
        { queue: queueName, job_id: jobId, reason: describeError(error) },
        'a step of a job failed; trying again later',
      );
      return { afterMs: FAILURE_PAUSE_MS, memo };
    });
    running.add(step);
    const next = await step.finally(() => running.delete(step));
    if (next === undefined) return;
    const { afterMs, memo: nextMemo = {} } = next;
    if (JSON.stringify(nextMemo) !== JSON.stringify(memo)) await job.updateData(nextMemo);
    await job.moveToDelayed(Date.now() + afterMs, token);
    // Signals to BullMQ that the job is delayed, not finished.
    throw new DelayedError();
  }

  function onError(error: Error): void {
    const now = performance.now();
    if (now < nextWarningAt) return;
    nextWarningAt = now + WARNING_EVERY_MS;
    log.warn(
      { queue: queueName, reason: describeError(error) },
      'the Redis connection of a queue failed',
    );
  }

  /** Undefined while Redis is unavailable: the calls of the queue then never return. */
  async function depth(): Promise<number | undefined> {
    if (queue === undefined) return 0;
    return withTimeout(queue.getJobCountByTypes('waiting', 'delayed'), REDIS_TIMEOUT_MS).catch(
      () => undefined,
    );
  }

  async function isConnected({ backend }: Worker<StepMemo>): Promise<boolean> {
    const blocking = await backend.blockingClient;
    return blocking?.status === 'ready' && (await depth()) !== undefined;
  }

  /**
   * Waits only for the steps: a clean close waits for the connections, and forever for one that is being made again. Other
   * workers continue the jobs from the database.
   */
  async function abandon(abandoned: Worker<StepMemo>): Promise<void> {
    await abandoned.close(true);
    await Promise.all(running);
  }

  metrics.gauge({
    name: QUEUES[queueName].metric,
    help: QUEUES[queueName].help,
    collect: async (gauge) => gauge.set((await depth()) ?? Number.NaN),
  });

  return {
    name: `${queueName}-queue`,
    async start() {
      queue = new Queue(queueName, {
        connection,
        prefix,
        defaultJobOptions: { removeOnComplete: true, removeOnFail: true },
        // Nothing reads these events.
        streams: { events: { maxLen: 100 } },
      });
      worker = new Worker(queueName, run, {
        connection,
        prefix,
        concurrency,
        lockDuration: STALLED_AFTER_MS,
        stalledInterval: STALLED_CHECK_MS,
        maxStalledCount: Number.MAX_SAFE_INTEGER,
      });
      queue.on('error', onError);
      worker.on('error', onError);
      await Promise.all([queue.waitUntilReady(), worker.waitUntilReady()]);
    },
    async add(jobIds) {
      await queue?.addBulk(jobIds.map((jobId) => ({ name: STEP_NAME, data: {}, opts: { jobId } })));
    },
    async jobIds() {
      return new Set(await queue?.getRanges(['waiting', 'delayed', 'active']));
    },
    async stop() {
      if (queue === undefined || worker === undefined) return;
      const closed = (await isConnected(worker)) ? close(worker, queue) : abandon(worker);
      await withTimeout(closed, CLOSE_TIMEOUT_MS).catch(onError);
      await Promise.all([queue.backend, worker.backend].map(disconnect));
    },
  };
}

async function close(worker: Worker<StepMemo>, queue: Queue<StepMemo>): Promise<void> {
  await worker.close();
  await queue.close();
}

async function disconnect({ client, blockingClient }: RedisQueueBackend): Promise<void> {
  for (const connection of [await client, await blockingClient]) {
    if (connection !== undefined && connection.status !== 'end') connection.disconnect();
  }
}
