import { z } from 'zod';

/** Where a price comes from. `file`: the configuration file. `local`: models that run on own machines are free. */
const PRICE_SOURCES = ['override', 'file', 'catalogue', 'built-in', 'local'] as const;

/** A price in USD, and where it comes from. What it has no price for is absent. */
export const priceRecord = z.object({
  /** What the model id contains, or, for `catalogue`, the id itself. */
  pattern: z.string().optional(),
  /** The only backend that the price is for. */
  backend: z.string().optional(),
  input_per_million: z.number(),
  output_per_million: z.number(),
  /** If it is absent, cached tokens cost as much as others, and so do those that are written to the cache. */
  cached_input_per_million: z.number().optional(),
  cache_write_per_million: z.number().optional(),
  /** If they are absent, tokens of audio cost as much as those of text. */
  audio_input_per_million: z.number().optional(),
  audio_output_per_million: z.number().optional(),
  cached_audio_input_per_million: z.number().optional(),
  /** Of generated images; if it is absent, their tokens cost as much as those of text. */
  image_output_per_million: z.number().optional(),
  per_image: z.number().optional(),
  per_minute_audio: z.number().optional(),
  per_request: z.number().optional(),
  source: z.enum(PRICE_SOURCES),
});

export type PriceRecord = z.output<typeof priceRecord>;
export type PriceSource = PriceRecord['source'];
