import {
  admit,
  callOfUser,
  EXPECTED_NOTHING,
  viewVideoJob,
  type VideoJob,
} from '@model-gateway/inference';
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
        const { caller, resolvedModel, reservation } = await admit(
          callOfUser({ userId: user.id, surface: 'video', refId: null }, quotas),
          {
            read: async () => params,
            expected: () => EXPECTED_NOTHING,
            job: async (body, resolved) => ({
              id: newId(),
              costUsd: await videoJobs.estimateCost(body, resolved),
            }),
          },
          { quotas, router },
        );
        const { id } = await videoJobs.create(caller, params, resolvedModel, { reservation });
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
