import { EXPECTED_NOTHING, jwtCaller, viewVideoJob, type VideoJob } from '@model-gateway/inference';
import { newId } from '@model-gateway/kernel';
import { WORK } from '../audit/audit-rule.ts';
import type { HandlersOf } from '../protocol/handlers.ts';
import type { Services } from '../services.ts';

export function createVideoMethods({
  runtime: { videoJobs, quotas, router },
}: Services): HandlersOf<'video'> {
  return {
    'video.create': {
      audit: WORK,
      handle: async (params, { user }) => {
        const resolvedModel = router.aliases.resolve(params.model);
        const costUsd = await videoJobs.estimateCost(params, resolvedModel);
        const reservation = await quotas.admitUser(user.id, {
          model: null,
          expected: () => ({ ...EXPECTED_NOTHING, costUsd }),
          jobId: newId(),
        });
        const { id } = await videoJobs.create(jwtCaller(user.id), params, resolvedModel, {
          reservation,
        });
        return { job_id: id, stream_id: id };
      },
    },
    'video.get': async ({ job_id }, { user }) => jobRecord(await videoJobs.get(user.id, job_id)),
    'video.list': async ({ before, limit }, { user }) => {
      const found = await videoJobs.list(user.id, limit + 1, before ?? undefined);
      const jobs = found.slice(0, limit);
      const hasMore = found.length > limit;
      return {
        jobs: jobs.map(jobRecord),
        has_more: hasMore,
        before: hasMore ? (jobs.at(-1)?.id ?? null) : null,
      };
    },
    'video.cancel': {
      audit: WORK,
      handle: async ({ job_id }, { user }) => {
        await videoJobs.cancel(user.id, job_id);
        return { ok: true };
      },
    },
  };
}

const jobRecord = (job: VideoJob) => ({ ...viewVideoJob(job), job_id: job.id });
