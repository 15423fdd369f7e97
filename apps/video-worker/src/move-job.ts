import type { VideoJobStore, VideoNotifications, VideoWork } from '@model-gateway/inference';
import type { PollJob } from './steps/poll.ts';
import type { SubmitJob } from './steps/submit.ts';
import type { VideoPace } from './video-pace.ts';
import type { MoveJob } from './video-queue.ts';

interface MoveJobDependencies {
  readonly jobs: Pick<VideoJobStore, 'claimPoll' | 'findWork'>;
  readonly notifications: Pick<VideoNotifications, 'done' | 'failed'>;
  readonly submit: SubmitJob;
  readonly poll: PollJob;
  readonly pace: VideoPace;
}

/** Takes the step that a job is at, as the database has it. */
export function createMoveJob(dependencies: MoveJobDependencies): MoveJob {
  const { jobs, notifications, submit, poll, pace } = dependencies;

  /** A worker that died at the end of a job may not have told of it any more. */
  async function tellAgain({ id, status, result, error, cost }: VideoWork): Promise<void> {
    if (status === 'done' && result !== null) await notifications.done(id, { result, cost });
    if (status === 'failed') await notifications.failed(id, error ?? 'failed');
  }

  return async ({ jobId, memo, isTakenOver }) => {
    const due = await jobs.claimPoll(jobId, pace.pollMs);
    if (due !== undefined) return poll(due, memo);
    const work = await jobs.findWork(jobId);
    if (work?.status === 'queued') return submit(work, memo);
    // Somebody set out to ask about it a moment ago.
    if (work?.status === 'running') return { ...pace.next, memo };
    if (work !== undefined && isTakenOver) await tellAgain(work);
    return undefined;
  };
}
