import { jwtCaller, viewVideoJob, type VideoJob } from '@model-gateway/inference';
import type { HandlersOf } from '../protocol/handlers.ts';
import type { Services } from '../services.ts';

export function createVideoMethods({
  runtime: { videoJobs, quotas, router },
}: Services): HandlersOf<'video'> {
  return {
    'video.create': async (params, { user }) => {
      await quotas.assertUserCovered(user.id, null);
      const { id } = await videoJobs.create(
        jwtCaller(user.id),
        params,
        router.aliases.resolve(params.model),
      );
      return { job_id: id, stream_id: id };
    },
    'video.get': async ({ job_id }, { user }) => jobRecord(await videoJobs.get(user.id, job_id)),
    'video.list': async ({ limit }, { user }) => ({
      jobs: (await videoJobs.list(user.id, limit)).map(jobRecord),
    }),
    'video.cancel': async ({ job_id }, { user }) => {
      await videoJobs.cancel(user.id, job_id);
      return { ok: true };
    },
  };
}

const jobRecord = (job: VideoJob) => ({ ...viewVideoJob(job), job_id: job.id });
