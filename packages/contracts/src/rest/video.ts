import { z } from 'zod';
import { modelId, videoResult } from '../rpc/records.ts';

const IMAGES_MAX = 8;
const IMAGE_BYTES_MAX = 10 * 1024 * 1024;
const DURATION_SECS_MAX = 60;
const SIDE_PIXELS_MIN = 64;
const SIDE_PIXELS_MAX = 4096;
const FRAMES_MAX = 100_000;

// Asked for what is wrong: a pattern of what is right would run out of stack on a text of many megabytes.
const NO_BASE64 = /[^A-Za-z0-9+/=]|=[^=]|={3}/;
const IMAGE_TYPE = /^image\/[a-z0-9.+-]{1,58}$/i;

/** How many bytes a base64 text stands for. */
const decodedBytes = (text: string): number =>
  (text.length / 4) * 3 - (text.length - text.replace(/=+$/, '').length);

const image = z.object({
  data_base64: z
    .string()
    .refine(
      (text) => text !== '' && text.length % 4 === 0 && !NO_BASE64.test(text),
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
  prompt: z.string().min(1),
  negative_prompt: z.string(),
  images: z.array(image).max(IMAGES_MAX),
  duration_seconds: z.int().min(1).max(DURATION_SECS_MAX),
  width: side,
  height: side,
  provider: z.string(),
  // What it costs may go by the frames, so they are looked at, unlike the rest.
  extra: z
    .record(z.string(), z.unknown())
    .refine((extra) => frames.nullish().safeParse(extra['frames']).success, {
      path: ['frames'],
      message: `must be a whole number from 1 to ${FRAMES_MAX}`,
    }),
};

/** Null counts as left out. */
const left = <Schema extends z.ZodType>(schema: Schema) =>
  schema
    .nullish()
    .transform((value) => value ?? undefined)
    .optional();

/** The body of `POST /v1/video/generations`. */
export const videoRequestSchema = z.object({
  model: videoFields.model,
  prompt: videoFields.prompt,
  negative_prompt: left(videoFields.negative_prompt),
  images: left(videoFields.images),
  duration_seconds: left(videoFields.duration_seconds),
  width: left(videoFields.width),
  height: left(videoFields.height),
  provider: left(videoFields.provider),
  extra: left(videoFields.extra),
});

export type VideoRequest = z.output<typeof videoRequestSchema>;

/** Where a video job stands. */
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

/** What `GET /v1/video/generations/{id}` answers. */
export const videoJobSchema = z.object(videoJobFields);

export type VideoJobView = z.output<typeof videoJobSchema>;

/** What `POST /v1/video/generations` answers. */
export const videoSubmittedSchema = videoJobSchema.pick({
  id: true,
  object: true,
  model: true,
  status: true,
  created_at: true,
});
