import type { VideoJobStore, VideoNotifications, VideoWork } from '@model-gateway/inference';
import type { CancelJob } from './steps/cancel.ts';
import type { PollJob } from './steps/poll.ts';
import type { SubmitJob } from './steps/submit.ts';
import type { VideoTiming } from './video-timing.ts';
import type { RunJobStep } from './job-queue.ts';

interface RunJobStepDependencies {
  readonly jobs: Pick<VideoJobStore, 'claimPoll' | 'findWork'>;
  readonly notifications: Pick<VideoNotifications, 'done' | 'failed'>;
  readonly submit: SubmitJob;
  readonly poll: PollJob;
  readonly cancel: CancelJob;
  readonly timing: VideoTiming;
}

/** Runs the next step of a job, according to its state in the database. */
export function createRunJobStep(dependencies: RunJobStepDependencies): RunJobStep {
  const { jobs, notifications, submit, poll, cancel, timing } = dependencies;

  /** A worker that crashed at the end of a job may not have sent the notification. */
  async function notifyAgain({ id, status, result, error, cost }: VideoWork): Promise<void> {
    if (status === 'done' && result !== null) await notifications.done(id, { result, cost });
    if (status === 'failed') await notifications.failed(id, error ?? 'failed');
  }

  return async ({ jobId, memo, isTakenOver }) => {
    const due = await jobs.claimPoll(jobId, timing.pollMs);
    if (due !== undefined) return poll(due, memo);
    const work = await jobs.findWork(jobId);
    if (work?.status === 'queued') return submit(work, memo);
    // Another worker began to poll it a moment ago.
    if (work?.status === 'running') return { ...timing.next, memo };
    if (work?.status === 'cancelled') return cancel(work, memo);
    if (work !== undefined && isTakenOver) await notifyAgain(work);
    return undefined;
  };
}
