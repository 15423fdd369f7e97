import type { VideoJobStore, VideoNotifications } from '@model-gateway/inference';

/** Marks a job as failed, unless it has ended, and sends the notification. */
export type FailJob = (jobId: string, error: string) => Promise<void>;

interface FailDependencies {
  readonly jobs: Pick<VideoJobStore, 'fail'>;
  readonly notifications: Pick<VideoNotifications, 'failed'>;
}

export function createFail({ jobs, notifications }: FailDependencies): FailJob {
  return async (jobId, error) => {
    if (await jobs.fail(jobId, error)) await notifications.failed(jobId, error);
  };
}
