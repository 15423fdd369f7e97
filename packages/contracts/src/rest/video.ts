import { z } from 'zod';
import { passAllFields } from '../open-object.ts';
import { modelId, videoResult } from '../rpc/namespaces/records.ts';

const IMAGES_MAX = 8;
const IMAGE_BYTES_MAX = 10 * 1024 * 1024;
const DURATION_SECS_MAX = 60;
const SIDE_PIXELS_MIN = 64;
const SIDE_PIXELS_MAX = 4096;
const FRAMES_MAX = 10_000;
/** A job keeps its order, also when it has ended. */
const PROMPT_CHARS_MAX = 32_000;
const PROVIDER_CHARS_MAX = 255;
const EXTRA_CHARS_MAX = 64 * 1024;

// Matches what is invalid: a pattern for valid base64 would overflow the stack on a text of many megabytes.
const INVALID_BASE64 = /[^A-Za-z0-9+/=]|=[^=]|={3}/;
const IMAGE_TYPE = /^image\/[a-z0-9.+-]{1,58}$/i;

/** How many bytes a base64 text decodes to. */
function decodedBytes(text: string): number {
  const padding = text.endsWith('==') ? 2 : Number(text.endsWith('='));
  return (text.length / 4) * 3 - padding;
}

const image = z.object({
  data_base64: z
    .string()
    .refine(
      (text) => text !== '' && text.length % 4 === 0 && !INVALID_BASE64.test(text),
      'must be base64',
    )
    .refine(
      (text) => decodedBytes(text) <= IMAGE_BYTES_MAX,
      `must be at most ${IMAGE_BYTES_MAX} bytes after decoding`,
    ),
  mime_type: z.string().regex(IMAGE_TYPE, 'must be an image type'),
});

const side = z.int().min(SIDE_PIXELS_MIN).max(SIDE_PIXELS_MAX);

const frames = z.int().min(1).max(FRAMES_MAX);

/** The fields of a video request, the same on every surface. */
export const videoFields = {
  model: modelId,
  prompt: z.string().min(1).max(PROMPT_CHARS_MAX),
  negative_prompt: z.string().max(PROMPT_CHARS_MAX),
  images: z.array(image).max(IMAGES_MAX),
  duration_seconds: z.int().min(1).max(DURATION_SECS_MAX),
  width: side,
  height: side,
  provider: z.string().max(PROVIDER_CHARS_MAX),
  // The price can depend on the frames, so they are validated.
  extra: passAllFields(
    z
      .record(z.string(), z.unknown())
      .refine((extra) => frames.nullish().safeParse(extra['frames']).success, {
        path: ['frames'],
        message: `must be a whole number from 1 to ${FRAMES_MAX}`,
      })
      .refine(
        (extra) => JSON.stringify(extra).length <= EXTRA_CHARS_MAX,
        `must have at most ${EXTRA_CHARS_MAX} characters of JSON`,
      ),
  ),
};

/** Null means the same as an omitted field. */
const omittable = <Schema extends z.ZodType>(schema: Schema) =>
  schema
    .nullish()
    .transform((value) => value ?? undefined)
    .optional();

/** The body of `POST /v1/video/generations`. */
export const videoRequestSchema = z.object({
  model: videoFields.model,
  prompt: videoFields.prompt,
  negative_prompt: omittable(videoFields.negative_prompt),
  images: omittable(videoFields.images),
  duration_seconds: omittable(videoFields.duration_seconds),
  width: omittable(videoFields.width),
  height: omittable(videoFields.height),
  provider: omittable(videoFields.provider),
  extra: omittable(videoFields.extra),
});

export type VideoRequest = z.output<typeof videoRequestSchema>;

/** The state of a video job. */
const videoJobStatus = z.enum(['queued', 'running', 'done', 'failed', 'cancelled']);

export type VideoJobStatus = z.output<typeof videoJobStatus>;

/** A video job as its owner sees it. */
export const videoJobFields = {
  id: z.uuid(),
  object: z.literal('video.generation'),
  model: z.string(),
  status: videoJobStatus,
  progress: z.number(),
  result: videoResult.nullable(),
  error: z.string().nullable(),
  cost: z.number(),
  created_at: z.int(),
};

/** The response of `GET /v1/video/generations/{id}`. */
export const videoJobSchema = z.object(videoJobFields);

export type VideoJobView = z.output<typeof videoJobSchema>;

/** The response of `POST /v1/video/generations`. */
export const videoSubmittedSchema = videoJobSchema.pick({
  id: true,
  object: true,
  model: true,
  status: true,
  created_at: true,
});
