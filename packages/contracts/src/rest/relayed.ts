import { z } from 'zod';
import { boundedArray } from '../bounded-array.ts';
import { choiceCount, countFields, resultCount, tokenLimit } from '../counts.ts';
import { anyObject, passFurtherFields } from '../open-object.ts';
import { extraFields, requestedModel, tokenUsageSchema } from './chat.ts';
import { texts, tokenLists, tokens } from './embeddings.ts';
import { fallbackModelsSchema, providerSchema } from './provider.ts';

const DOCUMENTS_MAX = 10_000;
const PARTS_MAX = 1_000;

/** The fields that route a request; the others pass through to the upstream. */
const routed = {
  model: requestedModel,
  models: fallbackModelsSchema.nullish(),
  provider: providerSchema.nullish(),
};

/** Counts that upstreams may know; `extra` is for the gateway, which reads its counts. */
const counts = { ...countFields, extra: extraFields };

/** The body of `POST /v1/completions`. */
export const completionsRequestSchema = passFurtherFields(
  z.looseObject({
    ...routed,
    prompt: z
      .union([z.string(), texts, tokens, tokenLists], {
        error: 'must be a text, an array of texts, or token ids',
      })
      .nullish(),
    suffix: z.string().nullish(),
    echo: z.boolean().nullish(),
    max_tokens: tokenLimit.nullish(),
    n: choiceCount.nullish(),
    best_of: choiceCount.nullish(),
    stream: z.boolean().nullish(),
  }),
  counts,
);

/** The body of `POST /v1/rerank`. */
export const rerankRequestSchema = passFurtherFields(
  z.looseObject({
    ...routed,
    query: z.union([z.string(), anyObject()], { error: 'must be a text or an object' }),
    documents: boundedArray(
      z.union([z.string(), anyObject()], { error: 'must be a text or an object' }),
      { min: 1, max: DOCUMENTS_MAX },
    ),
    top_n: resultCount.nullish(),
  }),
  counts,
);

/** The body of `POST /v1/moderations`. */
export const moderationsRequestSchema = passFurtherFields(
  z.looseObject({
    ...routed,
    input: z.union([z.string(), texts, boundedArray(anyObject(), { min: 1, max: PARTS_MAX })], {
      error: 'must be a text, an array of texts, or an array of parts',
    }),
  }),
  counts,
);

/** The body of `POST /v1/images/generations`. */
export const imagesRequestSchema = passFurtherFields(
  z.looseObject({
    ...routed,
    prompt: z.string(),
    n: choiceCount.nullish(),
    stream: z.boolean().nullish(),
  }),
  counts,
);

/** The body of `POST /v1/audio/speech`. */
export const speechRequestSchema = passFurtherFields(
  z.looseObject({ ...routed, input: z.string() }),
  counts,
);

/** The text fields of an upload that route it. */
export const uploadFieldsSchema = z.object(routed);

/** The multipart form of `POST /v1/audio/transcriptions` and `/v1/audio/translations`. */
export const uploadFormSchema = z.looseObject({
  file: z.file().meta({ description: 'The audio.' }),
  ...routed,
});

const list = (name: string) => z.looseObject({ [name]: z.array(anyObject()) });

/** The answer to a text completion, as the upstream sent it. */
export const textCompletionSchema = z.looseObject({
  object: z.literal('text_completion'),
  choices: z.array(z.looseObject({ text: z.string() })),
  usage: tokenUsageSchema.nullish(),
});

/** The answers to the other requests, as the upstream sent them. */
export const rerankAnswerSchema = list('results');
export const moderationsAnswerSchema = list('results');
export const imagesAnswerSchema = list('data');
export const transcriptionSchema = z.looseObject({ text: z.string() });
