import type { VideoResult } from '@model-gateway/contracts';
import type {
  VideoImage,
  VideoJob,
  VideoOrder,
  VideoPayer,
  VideoPoll,
  VideoWork,
} from './video-job.ts';

/** A job that is not there yet. */
export interface NewVideoJob {
  readonly id: string;
  readonly payer: VideoPayer;
  readonly model: string;
  readonly resolvedModel: string;
  readonly order: VideoOrder;
  readonly images: readonly VideoImage[];
  /** The caller's own, to make a repeated request recognisable. */
  readonly idempotencyKey: string | null;
}

/**
 * Where video jobs are kept. Every change says in what state it finds the job, so that of several who would end one,
 * exactly one does; a job that has ended never changes again, and its images are gone.
 */
export interface VideoJobStore {
  /** Adds a job that is queued; a repeated idempotency key adds none and answers the user's earlier job. */
  create(job: NewVideoJob): Promise<{ readonly job: VideoJob; readonly isNew: boolean }>;
  find(id: string): Promise<VideoJob | undefined>;
  /** The newest first. */
  list(userId: string, countMax: number): Promise<readonly VideoJob[]>;
  findWork(id: string): Promise<VideoWork | undefined>;
  images(id: string): Promise<readonly VideoImage[]>;
  /** The ids of all queued and running jobs, oldest first, without those whose submission began within this time. */
  unfinished(submittingMs: number): AsyncIterable<readonly string[]>;

  /** Notes where a queued job is about to be submitted, before it is; false when it is queued no longer. */
  startSubmission(
    id: string,
    to: { readonly backend: string; readonly servedModel: string },
  ): Promise<boolean>;
  /** The submission had no effect: the job may go anywhere again. */
  undoSubmission(id: string): Promise<void>;
  /** The upstream took a queued job, which runs now; false when it was queued no longer. */
  begin(id: string, taskId: string): Promise<boolean>;
  /** A running job that nobody set out to ask about within the interval; from now on somebody has. */
  claimPoll(id: string, intervalMs: number): Promise<VideoPoll | undefined>;
  /** Moves the progress of a running job on, never back; true when that changed it. */
  advance(id: string, progress: number): Promise<boolean>;

  /** Ends a running job well; false when it ran no longer. */
  finish(
    id: string,
    end: { readonly result: VideoResult; readonly cost: number; readonly at: Date },
  ): Promise<boolean>;
  /** Ends a queued or running job as failed and answers what it was; undefined when it had ended. */
  fail(
    id: string,
    error: string,
  ): Promise<Pick<VideoWork, 'userId' | 'model' | 'backend'> | undefined>;
  /** Ends a queued or running job at its owner's wish; false when it had ended. */
  cancel(id: string): Promise<boolean>;
}
