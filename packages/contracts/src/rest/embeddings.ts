import { z } from 'zod';
import { tokenUsageSchema } from './chat.ts';

const tokens = z.array(z.int().nonnegative()).min(1);

/** The body of `POST /v1/embeddings`; fields beyond these pass through to the upstream. */
export const embeddingsRequestSchema = z.looseObject({
  model: z.string().min(1),
  input: z.union([z.string(), z.array(z.string()).min(1), tokens, z.array(tokens).min(1)], {
    error: 'must be a text, an array of texts, or token ids',
  }),
  encoding_format: z.enum(['float', 'base64']).nullish(),
  provider: z.string().nullish(),
});

export type EmbeddingsRequest = z.output<typeof embeddingsRequestSchema>;

/** The response to an embeddings request: floats, or little-endian 32-bit floats in base64. */
export const embeddingListSchema = z.object({
  object: z.literal('list'),
  data: z.array(
    z.object({
      object: z.literal('embedding'),
      embedding: z.union([z.array(z.number()), z.string()]),
      index: z.int(),
    }),
  ),
  model: z.string(),
  usage: tokenUsageSchema,
});

export type EmbeddingList = z.output<typeof embeddingListSchema>;
