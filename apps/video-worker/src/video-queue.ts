import { describeError, type Log, type Metrics, type Part } from '@model-gateway/kernel';
import { Queue, UnrecoverableError, Worker, type Job } from 'bullmq';

/** Moves one job a step further. */
export type VideoStep = (job: Job) => Promise<void>;

interface VideoQueueDependencies {
  readonly redisUrl: string;
  /** Begins every key of the queue. */
  readonly prefix: string;
  readonly concurrency: number;
  /** One step per job name. */
  readonly steps: Readonly<Record<string, VideoStep>>;
  readonly metrics: Metrics;
  readonly log: Log;
}

const QUEUE_NAME = 'video';
const RECONNECT_DELAY_MS_MAX = 5_000;

/** The queue that moves video jobs. The rows in the database are the truth; the queue only says what to look at next. */
export function createVideoQueue(dependencies: VideoQueueDependencies): Part {
  const { redisUrl, prefix, concurrency, steps, metrics, log } = dependencies;
  const connection = {
    url: redisUrl,
    maxRetriesPerRequest: null,
    retryStrategy: (attempt: number) => Math.min(attempt * 200, RECONNECT_DELAY_MS_MAX),
  };
  let queue: Queue | undefined;
  let worker: Worker | undefined;

  async function run(job: Job): Promise<void> {
    const step = Object.hasOwn(steps, job.name) ? steps[job.name] : undefined;
    if (step === undefined) throw new UnrecoverableError(`no step is called '${job.name}'`);
    await step(job);
  }

  function onError(error: Error): void {
    log.warn({ reason: describeError(error) }, 'the video queue has trouble with its Redis');
  }

  metrics.gauge({
    name: 'service_video_queue_depth',
    help: 'Video jobs that wait or are delayed.',
    collect: async (gauge) => {
      gauge.set((await queue?.getJobCountByTypes('waiting', 'delayed')) ?? 0);
    },
  });

  return {
    name: 'video-queue',
    async start() {
      queue = new Queue(QUEUE_NAME, { connection, prefix });
      worker = new Worker(QUEUE_NAME, run, { connection, prefix, concurrency });
      queue.on('error', onError);
      worker.on('error', onError);
      await Promise.all([queue.waitUntilReady(), worker.waitUntilReady()]);
    },
    async stop() {
      await worker?.close();
      await queue?.close();
    },
  };
}
