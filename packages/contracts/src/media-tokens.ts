import { z } from 'zod';

/** The tokens of a request that are no text. Those of the prompt that came from a cache are a part of its audio. */
export const mediaTokens = z.object({
  audio_input: z.int().nonnegative(),
  cached_audio_input: z.int().nonnegative(),
  audio_output: z.int().nonnegative(),
  image_output: z.int().nonnegative(),
});

export type MediaTokens = z.output<typeof mediaTokens>;
