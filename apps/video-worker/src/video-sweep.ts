import { VIDEO_QUEUED_CHANNEL, type VideoJobStore } from '@model-gateway/inference';
import {
  describeError,
  type Channels,
  type Log,
  type Part,
  type Subscription,
} from '@model-gateway/kernel';
import type { VideoQueue } from './video-queue.ts';

interface VideoSweepDependencies {
  readonly jobs: Pick<VideoJobStore, 'unfinished'>;
  readonly queue: Pick<VideoQueue, 'add' | 'jobIds'>;
  readonly channels: Pick<Channels, 'subscribe'>;
  /** How long a submission may be under way; for so long it is nobody else's. */
  readonly submittingMs: number;
  readonly log: Log;
  readonly intervalMs?: number;
}

const INTERVAL_MS = 5_000;

/** Queues the jobs that it hears of, and those in the database that are in no queue: the queue may lose its memory, and news may get lost. */
export function createVideoSweep(dependencies: VideoSweepDependencies): Part {
  const { jobs, queue, channels, submittingMs, log, intervalMs = INTERVAL_MS } = dependencies;
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;
  let subscription: Subscription | undefined;

  async function sweep(): Promise<void> {
    const queued = await queue.jobIds();
    for await (const page of jobs.unfinished(submittingMs)) {
      if (isStopped) return;
      const missing = page.filter((jobId) => !queued.has(jobId));
      if (missing.length > 0) await queue.add(missing);
    }
  }

  function onTrouble(error: unknown): void {
    if (isStopped) return;
    log.warn({ reason: describeError(error) }, 'video jobs are queued a little later');
  }

  function tick(): void {
    void sweep()
      .catch(onTrouble)
      .finally(() => {
        if (!isStopped) timer = setTimeout(tick, intervalMs).unref();
      });
  }

  return {
    name: 'video-sweep',
    async start() {
      subscription = await channels.subscribe(VIDEO_QUEUED_CHANNEL, (jobId) => {
        queue.add([jobId]).catch(onTrouble);
      });
      tick();
    },
    // Does not wait for a sweep under way: while its Redis is away, the queue does not answer.
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await subscription?.close();
    },
  };
}
