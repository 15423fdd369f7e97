import {
  describeError,
  withTimeout,
  type Log,
  type Metrics,
  type Part,
} from '@model-gateway/kernel';
import { DelayedError, Queue, Worker, type Job } from 'bullmq';

/** What a step leaves to the next one of the same job. It is lost with the queue, so nothing may depend on it. */
export interface StepMemo {
  /** How often the upstream failed in a row, for the pause before it is asked again. */
  readonly failures?: number;
  /** How many of its answers in a row could not be understood. */
  readonly unreadable?: number;
  /** A task that the upstream took, while it could not be written down. */
  readonly taskId?: string;
}

/** A job whose turn it is. */
export interface Turn {
  readonly jobId: string;
  readonly memo: StepMemo;
  /** Whether the worker that had it before died, or was taken for dead. */
  readonly isTakenOver: boolean;
}

/** The same job again, after a while. */
export interface NextTurn {
  readonly afterMs: number;
  readonly memo?: StepMemo;
}

/** Moves a job one step on; nothing comes after the last. */
export type MoveJob = (turn: Turn) => Promise<NextTurn | undefined>;

/** The queue that says which job to look at next. The rows in the database are the truth. */
export interface VideoQueue extends Part {
  /** Queues jobs that are not in the queue already. */
  add(jobIds: readonly string[]): Promise<void>;
  /** Every job in the queue: waiting, delayed or in work. */
  jobIds(): Promise<ReadonlySet<string>>;
}

interface VideoQueueDependencies {
  readonly redisUrl: string;
  /** Begins every key of the queue. */
  readonly prefix: string;
  /** How many jobs are moved at a time; those that wait cost nothing. */
  readonly concurrency: number;
  readonly move: MoveJob;
  readonly metrics: Metrics;
  readonly log: Log;
}

const QUEUE_NAME = 'video';
const STEP_NAME = 'move';
const RECONNECT_DELAY_MS_MAX = 5_000;
/** A worker that says nothing for so long is taken for dead, and its jobs are given to others. */
const SILENT_MS_MAX = 10_000;
const SILENCE_CHECK_MS = 5_000;
/** What a step failed over is mostly a store that is away. */
const TROUBLE_PAUSE_MS = 2_000;
/** A Redis that does not answer for so long counts as away. */
const AWAY_MS = 1_000;

export function createVideoQueue(dependencies: VideoQueueDependencies): VideoQueue {
  const { redisUrl, prefix, concurrency, move, metrics, log } = dependencies;
  const connection = {
    url: redisUrl,
    maxRetriesPerRequest: null,
    retryStrategy: (attempt: number) => Math.min(attempt * 200, RECONNECT_DELAY_MS_MAX),
  };
  let queue: Queue<StepMemo> | undefined;
  let worker: Worker<StepMemo> | undefined;

  async function run(job: Job<StepMemo>, token: string | undefined): Promise<void> {
    const { id: jobId = '', data: memo } = job;
    const isTakenOver = job.stalledCounter > 0;
    const next = await move({ jobId, memo, isTakenOver }).catch((error: unknown): NextTurn => {
      log.warn({ job_id: jobId, reason: describeError(error) }, 'a video job is tried again later');
      return { afterMs: TROUBLE_PAUSE_MS, memo };
    });
    if (next === undefined) return;
    const { afterMs, memo: nextMemo = {} } = next;
    if (JSON.stringify(nextMemo) !== JSON.stringify(memo)) await job.updateData(nextMemo);
    await job.moveToDelayed(Date.now() + afterMs, token);
    // How the library is told that the job goes on.
    throw new DelayedError();
  }

  function onError(error: Error): void {
    log.warn({ reason: describeError(error) }, 'the video queue has trouble with its Redis');
  }

  /** Undefined while its Redis is away: then the queue does not answer at all. */
  async function depth(): Promise<number | undefined> {
    if (queue === undefined) return 0;
    return withTimeout(queue.getJobCountByTypes('waiting', 'delayed'), AWAY_MS).catch(
      () => undefined,
    );
  }

  metrics.gauge({
    name: 'service_video_queue_depth',
    help: 'Video jobs that wait or are delayed.',
    collect: async (gauge) => gauge.set((await depth()) ?? Number.NaN),
  });

  return {
    name: 'video-queue',
    async start() {
      queue = new Queue(QUEUE_NAME, {
        connection,
        prefix,
        defaultJobOptions: { removeOnComplete: true, removeOnFail: true },
      });
      worker = new Worker(QUEUE_NAME, run, {
        connection,
        prefix,
        concurrency,
        lockDuration: SILENT_MS_MAX,
        stalledInterval: SILENCE_CHECK_MS,
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
      // Without its Redis no step comes to its end; whoever has the queue then finds the jobs as they are.
      const isAway = (await depth()) === undefined;
      await worker?.close(isAway);
      if (!isAway) await queue?.close();
      else if (queue !== undefined)
        await withTimeout(queue.disconnect(), AWAY_MS).catch(() => undefined);
    },
  };
}
