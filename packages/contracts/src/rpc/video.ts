import { z } from 'zod';
import { method } from './method.ts';
import { clamped, modelId, record, videoResult } from './records.ts';

const LIMIT_DEFAULT = 20;
const LIMIT_MAX = 100;
const IMAGES_MAX = 8;
const DURATION_SECS_MAX = 60;
const SIDE_PIXELS_MIN = 64;
const SIDE_PIXELS_MAX = 4096;

const side = z.int().min(SIDE_PIXELS_MIN).max(SIDE_PIXELS_MAX);

const job = record('VideoJob', {
  id: z.uuid(),
  job_id: z.uuid(),
  object: z.literal('video.generation'),
  model: z.string(),
  status: z.enum(['queued', 'running', 'done', 'failed', 'cancelled']),
  progress: z.number(),
  result: videoResult.nullable(),
  error: z.string().nullable(),
  cost: z.number(),
  created_at: z.int(),
});

const oneJob = z.object({ job_id: z.uuid() });

export const videoMethods = {
  'video.create': method({
    auth: 'jwt',
    summary: 'Submit a video job; its progress arrives on the stream that it answers.',
    params: z.object({
      model: modelId,
      prompt: z.string().min(1),
      negative_prompt: z.string().optional(),
      images: z
        .array(z.object({ data_base64: z.string(), mime_type: z.string().startsWith('image/') }))
        .max(IMAGES_MAX)
        .optional(),
      duration_seconds: z.int().min(1).max(DURATION_SECS_MAX).optional(),
      width: side.optional(),
      height: side.optional(),
      provider: z.string().optional(),
      extra: z.record(z.string(), z.unknown()).optional(),
    }),
    result: z.object({ job_id: z.uuid(), stream_id: z.string() }),
  }),
  'video.get': method({
    auth: 'jwt',
    summary: 'A video job of yours.',
    params: oneJob,
    result: job,
  }),
  'video.list': method({
    auth: 'jwt',
    summary: 'Your video jobs, newest first.',
    params: z.object({ limit: clamped(1, LIMIT_MAX).prefault(LIMIT_DEFAULT) }),
    result: z.object({ jobs: z.array(job) }),
  }),
  'video.cancel': method({
    auth: 'jwt',
    summary: 'Cancel a video job of yours.',
    params: oneJob,
    result: z.object({ ok: z.literal(true) }),
  }),
};
