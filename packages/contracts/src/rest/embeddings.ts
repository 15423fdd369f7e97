import { z } from 'zod';
import { fallbackModelsSchema, providerSchema } from './provider.ts';
import { countFields, resultCount } from '../counts.ts';
import { boundedArray } from '../bounded-array.ts';
import { keepWritten } from '../written-numbers.ts';
import { passFurtherFields } from '../open-object.ts';
import { extraFields, requestedModel, tokenUsageSchema } from './chat.ts';

const INPUTS_MAX = 100_000;
const TOKENS_MAX = 1_000_000;

const isText = (value: unknown): value is string => typeof value === 'string';
const isToken = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 0;

/** A list of texts. */
export const texts = boundedArray(z.string(), { min: 1, max: INPUTS_MAX, isValid: isText });
/** The token ids of one text. */
export const tokens = boundedArray(keepWritten(z.int().nonnegative()), {
  min: 1,
  max: TOKENS_MAX,
  isValid: isToken,
});
/** The token ids of several texts. */
export const tokenLists = boundedArray(tokens, { min: 1, max: INPUTS_MAX });

/** The body of `POST /v1/embeddings`; fields beyond these pass through to the upstream. */
export const embeddingsRequestSchema = passFurtherFields(
  z.looseObject({
    model: requestedModel,
    input: z.union([z.string(), texts, tokens, tokenLists], {
      error: `must be a text, an array of at most ${INPUTS_MAX} texts, or token ids`,
    }),
    encoding_format: z.enum(['float', 'base64']).nullish(),
    dimensions: resultCount.nullish(),
    models: fallbackModelsSchema.nullish(),
    provider: providerSchema.nullish(),
  }),
  { ...countFields, extra: extraFields },
);

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
