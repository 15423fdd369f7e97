import type { VideoJobView } from '@model-gateway/contracts';
import type { VideoJob } from './video-job.ts';

const SECOND_MS = 1_000;

/** A job in the form of the public APIs. */
export function viewVideoJob(job: VideoJob): VideoJobView {
  const { id, model, status, progress, result, error, cost, createdAt } = job;
  const created_at = Math.floor(createdAt.getTime() / SECOND_MS);
  return {
    id,
    object: 'video.generation',
    model,
    status,
    progress,
    result,
    error,
    cost,
    created_at,
  };
}
