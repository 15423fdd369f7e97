import type { RpcResult } from '@model-gateway/contracts';
import type { RpcEvent } from '@model-gateway/client';

type Jobs = RpcResult<'video.list'>;

/** What an event of a job's stream changes: the list of jobs, or `ended` when the list is to be asked for again. */
export function withVideoEvent(
  jobs: Jobs | undefined,
  event: RpcEvent,
): Jobs | 'ended' | undefined {
  if (!('method' in event)) return jobs;
  if (event.method === 'video.done' || event.method === 'video.failed') return 'ended';
  if (event.method !== 'video.progress' || jobs === undefined) return jobs;
  const { job_id: id, progress, status } = event.params;
  return {
    ...jobs,
    jobs: jobs.jobs.map((job) => (job.job_id === id ? { ...job, status, progress } : job)),
  };
}
