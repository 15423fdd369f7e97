import { jwtCaller, viewVideoJob, type VideoJob } from '@model-gateway/inference';
import type { InferenceRuntime } from '@model-gateway/inference-runtime';
import type { Handlers } from '../protocol/handlers.ts';

type VideoMethods = 'video.create' | 'video.get' | 'video.list' | 'video.cancel';

export function createVideoMethods({
  videoJobs,
  quotas,
  router,
}: Pick<InferenceRuntime, 'videoJobs' | 'quotas' | 'router'>): Pick<Handlers, VideoMethods> {
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
