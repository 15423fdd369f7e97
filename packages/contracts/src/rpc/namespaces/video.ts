import { z } from 'zod';
import { videoFields, videoJobFields } from '../../rest/video.ts';
import { method } from '../method.ts';
import { clamped, record } from './records.ts';

const LIMIT_DEFAULT = 20;
const LIMIT_MAX = 100;

const { id, ...shown } = videoJobFields;

const job = record('VideoJob', { id, job_id: z.uuid(), ...shown });

const oneJob = z.object({ job_id: z.uuid() });

export const videoMethods = {
  'video.create': method({
    auth: 'jwt',
    summary: 'Submit a video job; its progress arrives on the returned stream.',
    params: z.object({
      model: videoFields.model,
      prompt: videoFields.prompt,
      negative_prompt: videoFields.negative_prompt.optional(),
      images: videoFields.images.optional(),
      duration_seconds: videoFields.duration_seconds.optional(),
      width: videoFields.width.optional(),
      height: videoFields.height.optional(),
      provider: videoFields.provider.optional(),
      extra: videoFields.extra.optional(),
    }),
    result: z.object({ job_id: z.uuid(), stream_id: z.string() }),
  }),
  'video.get': method({
    auth: 'jwt',
    summary: 'One of your video jobs.',
    params: oneJob,
    result: job,
  }),
  'video.list': method({
    auth: 'jwt',
    summary: 'Your video jobs, newest first.',
    params: z.object({
      before: z.uuid().nullish().describe('only jobs that are older than the one with this id'),
      limit: clamped(1, LIMIT_MAX).prefault(LIMIT_DEFAULT),
    }),
    result: z.object({
      jobs: z.array(job),
      has_more: z.boolean(),
      before: z.uuid().nullable().describe('for the next call, if there are more'),
    }),
  }),
  'video.cancel': method({
    auth: 'jwt',
    summary: 'Cancel one of your video jobs.',
    params: oneJob,
    result: z.object({ ok: z.literal(true) }),
  }),
};
