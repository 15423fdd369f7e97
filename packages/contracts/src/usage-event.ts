import { z } from 'zod';
import { mediaTokens } from './media-tokens.ts';
import { priceRecord } from './price.ts';
import { ATTEMPTS_MAX, requestAttempt } from './request-attempt.ts';

/**
 * One served request in the usage journal. The id is the id of the usage row, so that an event which is delivered twice
 * is recorded once.
 */
export const usageEventSchema = z.object({
  id: z.uuid(),
  user_id: z.uuid(),
  /** Null for requests that were authenticated with a JWT. */
  key_id: z.uuid().nullable(),
  /** The first 8 characters of the key, or `jwt-<user-uuid>`. Shown, never joined on. */
  api_key_id: z.string().max(64),
  project: z.string().max(128).nullable(),
  group_id: z.uuid().nullable(),
  model: z.string().max(128),
  backend: z.string().max(64),
  prompt_tokens: z.int().nonnegative(),
  completion_tokens: z.int().nonnegative(),
  total_tokens: z.int().nonnegative(),
  /** USD; null when the model has no price. */
  cost: z.number().nonnegative().nullable(),
  /** The cost multiplier of the group member; 1 outside of groups. */
  multiplier: z.number().nonnegative().default(1),
  ref_id: z.string().max(64).nullable(),
  /** The call whose reservation this usage replaces until it is settled. */
  call_id: z.string().max(64).optional(),
  /** The name of the backend that served it. Like the fields below absent in events of earlier versions. */
  upstream: z.string().max(255).nullish(),
  /** The part of the prompt that the upstream read from its cache, if it reported that. */
  cached_tokens: z.int().nonnegative().nullish(),
  /** The part of the prompt that the upstream wrote to its cache. */
  cache_write_tokens: z.int().nonnegative().nullish(),
  /** Which of the tokens are no text, if the upstream reported some. */
  media_tokens: mediaTokens.nullish(),
  /** Generated images, and the length of the audio, where they are priced. */
  images: z.int().nonnegative().nullish(),
  audio_seconds: z.number().nonnegative().nullish(),
  /** The price that the cost was computed with; null without one. */
  price: priceRecord.nullish(),
  /** Whether the gateway had stored the answer. */
  cached: z.boolean().nullish(),
  latency_ms: z.int().nonnegative().nullish(),
  /** Until the first chunk; only for streamed responses. */
  first_token_ms: z.int().nonnegative().nullish(),
  /** An HTTP status: 200, 499 when the client left, 502 when the upstream failed in the middle. */
  status: z.int().nonnegative().nullish(),
  /** The id that the client gave the request. Without it the id of the event is the one that the client got. */
  request_id: z.string().max(128).nullish(),
  /** Absent where one backend was tried, and answered. */
  attempts: z.array(requestAttempt).max(ATTEMPTS_MAX).nullish(),
  /** When the request was completed. */
  created_at: z.iso.datetime(),
});

export type UsageEvent = z.output<typeof usageEventSchema>;
