import type { VideoResult } from '@model-gateway/contracts';
import type {
  VideoImage,
  VideoJob,
  VideoOrder,
  VideoPayer,
  VideoPoll,
  VideoWork,
} from './video-job.ts';

/** A job to create. */
export interface NewVideoJob {
  readonly id: string;
  readonly payer: VideoPayer;
  readonly model: string;
  readonly resolvedModel: string;
  readonly order: VideoOrder;
  readonly images: readonly VideoImage[];
  /** Chosen by the caller, to detect a repeated request. */
  readonly idempotencyKey: string | null;
  /** Of what was ordered with the key; null without a key. */
  readonly orderHash: string | null;
  /** The models that it may be made with; null for all. */
  readonly allowedModels: readonly string[] | null;
  /** How many unfinished jobs the user may have. */
  readonly unfinishedMax: number;
}

/**
 * Stores video jobs. Every change depends on the current state of the job, so that of several concurrent ends exactly one
 * succeeds; a job that has ended never changes again, and its images are deleted.
 */
export interface VideoJobStore {
  /**
   * Adds a job that is queued; a repeated idempotency key returns the user's earlier job. Rejects with `idempotency_conflict`
   * when that was ordered otherwise, and with `rate_limit_exceeded` when the user has too many unfinished jobs.
   */
  create(job: NewVideoJob): Promise<{ readonly job: VideoJob; readonly isNew: boolean }>;
  find(id: string): Promise<VideoJob | undefined>;
  /** The job of the user with this idempotency key; rejects with `idempotency_conflict` when it was ordered otherwise. */
  findRepeated(
    userId: string,
    key: { readonly idempotencyKey: string; readonly orderHash: string },
  ): Promise<VideoJob | undefined>;
  /** The newest first. */
  list(userId: string, countMax: number, before?: string): Promise<readonly VideoJob[]>;
  findWork(id: string): Promise<VideoWork | undefined>;
  images(id: string): Promise<readonly VideoImage[]>;
  /**
   * The ids of all queued and running jobs, and of cancelled ones whose upstream is still to be asked, oldest first; except
   * those whose submission began within this time.
   */
  unfinished(submittingMs: number): AsyncIterable<readonly string[]>;

  /** Stores where a queued job is about to be submitted; false when it is no longer queued. */
  startSubmission(
    id: string,
    to: { readonly backend: string; readonly servedModel: string },
  ): Promise<boolean>;
  /** The submission had no effect: the job may go to any backend again. */
  undoSubmission(id: string): Promise<void>;
  /** The upstream accepted a queued job, which is running now; false when it was no longer queued. */
  begin(id: string, taskId: string): Promise<boolean>;
  /** Claims a running job that was not polled within the interval. */
  claimPoll(id: string, intervalMs: number): Promise<VideoPoll | undefined>;
  /** Increases the progress of a running job; true when it changed. */
  advance(id: string, progress: number): Promise<boolean>;

  /** Ends a running job as done; false when it was no longer running. */
  finish(
    id: string,
    end: { readonly result: VideoResult; readonly cost: number; readonly at: Date },
  ): Promise<boolean>;
  /** Ends a queued or running job as failed and returns it; undefined when it had ended. */
  fail(
    id: string,
    error: string,
  ): Promise<Pick<VideoWork, 'userId' | 'model' | 'backend'> | undefined>;
  /** Cancels a queued or running job for its owner; false when it had ended. The task of a running one is to be cancelled. */
  cancel(id: string): Promise<boolean>;
  /** Stores the task of a job that was cancelled during its submission; false when it was not. */
  addCancelledTask(id: string, taskId: string): Promise<boolean>;
  /** The upstream need not be asked again. Stores the cost of what it charges; false when that was done before. */
  endCancel(id: string, cost: number): Promise<boolean>;
}
