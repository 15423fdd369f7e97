import { z } from 'zod';

/** One model of the listing. */
export const modelEntrySchema = z.object({
  id: z.string(),
  object: z.literal('model'),
  /** Unix seconds: when its backend was registered, or when its alias was set. */
  created: z.int(),
  /** The name of the backend that serves it, the provider of a quick-start model, `demo`, or `alias`. */
  owned_by: z.string(),
  /** Absent for what can be asked now. */
  status: z.literal('suggested').optional().describe('no backend serves the model yet'),
  /** The target, for an alias. */
  alias_of: z.string().optional(),
  /** What requests can ask of it: `chat`, `embeddings`, `completions`, `images` and others. */
  capabilities: z.array(z.string()),
  /** Tokens, where the backend lists it. */
  context_length: z.int().optional(),
  /** USD per token, as exact decimal text; absent for a model without a price. */
  pricing: z
    .object({ prompt: z.string(), completion: z.string(), cached_prompt: z.string() })
    .optional(),
});

/** The response of `GET /v1/models`. */
export const modelListSchema = z.object({
  object: z.literal('list'),
  data: z.array(modelEntrySchema),
});

export type ModelEntry = z.output<typeof modelEntrySchema>;
export type ModelList = z.output<typeof modelListSchema>;
