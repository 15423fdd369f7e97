import { sessionChannel, type RpcNotification, type VideoResult } from '@model-gateway/contracts';
import { describeError, type Channels, type Log } from '@model-gateway/kernel';

/** Publishes the progress of video jobs. A failure to publish is logged and never fails the job. */
export interface VideoNotifications {
  progress(jobId: string, progress: number): Promise<void>;
  done(jobId: string, end: { readonly result: VideoResult; readonly cost: number }): Promise<void>;
  failed(jobId: string, error: string): Promise<void>;
  cancelled(jobId: string): Promise<void>;
}

interface VideoNotificationsDependencies {
  readonly channels: Pick<Channels, 'publish'>;
  readonly log: Log;
}

/** The stream of a job has the id of the job, for every surface. */
export function createVideoNotifications({
  channels,
  log,
}: VideoNotificationsDependencies): VideoNotifications {
  async function push(jobId: string, notification: RpcNotification): Promise<void> {
    try {
      await channels.publish(sessionChannel(jobId), JSON.stringify(notification));
    } catch (error) {
      log.warn({ job_id: jobId, reason: describeError(error) }, 'notifying of a video job failed');
    }
  }

  const failed = (jobId: string, status: 'failed' | 'cancelled', error: string): Promise<void> =>
    push(jobId, {
      jsonrpc: '2.0',
      method: 'video.failed',
      params: { ...idsOf(jobId), status, error },
    });

  return {
    progress: (jobId, progress) =>
      push(jobId, {
        jsonrpc: '2.0',
        method: 'video.progress',
        params: { ...idsOf(jobId), status: 'running', progress },
      }),
    done: (jobId, { result, cost }) =>
      push(jobId, {
        jsonrpc: '2.0',
        method: 'video.done',
        params: { ...idsOf(jobId), status: 'done', progress: 100, result, cost },
      }),
    failed: (jobId, error) => failed(jobId, 'failed', error),
    cancelled: (jobId) => failed(jobId, 'cancelled', 'cancelled'),
  };
}

const idsOf = (jobId: string) => ({ job_id: jobId, stream_id: jobId });
