import type { AdmissionStore } from '@model-gateway/billing';
import { jobEnd, type VideoJobStore, type VideoNotifications } from '@model-gateway/inference';
import type { Log } from '@model-gateway/kernel';
import type { UpstreamFailure } from '@model-gateway/router';
import type { VideoTiming } from '../video-timing.ts';

/** Why a job failed. */
export interface JobFailure {
  readonly code: 'bad_gateway' | 'generation_failed' | 'timed_out';
  /** For the owner of the job. It can quote the prompt, so it is not logged. */
  readonly message: string;
  /** For the log. */
  readonly reason?: string | undefined;
}

/** Ends a job as failed, unless it has ended, and publishes and logs that. */
export type FailJob = (jobId: string, failure: JobFailure) => Promise<void>;

interface FailDependencies {
  readonly jobs: Pick<VideoJobStore, 'fail'>;
  readonly admission: Pick<AdmissionStore, 'endCall'>;
  readonly notifications: Pick<VideoNotifications, 'failed'>;
  readonly log: Log;
}

export function createFail({ jobs, admission, notifications, log }: FailDependencies): FailJob {
  return async (jobId, { code, message, reason }) => {
    const failed = await jobs.fail(jobId, message);
    if (failed === undefined) return;
    const { userId, model, backend } = failed;
    admission.endCall(jobEnd({ id: jobId, userId }));
    log.warn({ job_id: jobId, user_id: userId, model, backend, code, reason }, 'video job failed');
    await notifications.failed(jobId, message);
  };
}

/** A job that its upstream refused, or could not be asked about. */
export const failedUpstream = ({ message, loggedAs }: UpstreamFailure): JobFailure => ({
  code: 'bad_gateway',
  message,
  reason: loggedAs ?? message,
});

/** A job whose time ran out while this kept it from finishing. */
export const jobTimedOut = (
  { expiredText }: Pick<VideoTiming, 'expiredText'>,
  { message, reason = message }: Omit<JobFailure, 'code'>,
): JobFailure => ({ code: 'timed_out', message: `${expiredText}: ${message}`, reason });
