import { VIDEO_QUEUED_CHANNEL, type VideoJobStore } from '@model-gateway/inference';
import {
  describeError,
  type Channels,
  type Log,
  type Part,
  type Subscription,
} from '@model-gateway/kernel';
import type { JobQueue } from './job-queue.ts';

interface VideoSweepDependencies {
  readonly jobs: Pick<VideoJobStore, 'unfinished'>;
  readonly queue: Pick<JobQueue, 'add' | 'jobIds'>;
  readonly channels: Pick<Channels, 'subscribe'>;
  /** How long a submission may take; for that time no other worker takes the job. */
  readonly submittingMs: number;
  readonly log: Log;
  readonly intervalMs?: number;
}

const INTERVAL_MS = 5_000;

/** Queues announced jobs, and jobs in the database that are in no queue, because the queue and messages can be lost. */
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

  function onFailure(error: unknown): void {
    if (isStopped) return;
    log.warn({ reason: describeError(error) }, 'queueing video jobs failed; trying again later');
  }

  function tick(): void {
    void sweep()
      .catch(onFailure)
      .finally(() => {
        if (!isStopped) timer = setTimeout(tick, intervalMs).unref();
      });
  }

  return {
    name: 'video-sweep',
    async start() {
      subscription = await channels.subscribe(VIDEO_QUEUED_CHANNEL, (jobId) => {
        queue.add([jobId]).catch(onFailure);
      });
      tick();
    },
    // Does not wait for a running sweep: while Redis is unavailable, its calls never return.
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await subscription?.close();
    },
  };
}
