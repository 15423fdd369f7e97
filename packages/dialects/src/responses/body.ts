import {
  anyObject,
  boundedArray,
  boundedRecord,
  countFields,
  keepWritten,
  passFurtherFields,
  tokenCount,
} from '@model-gateway/contracts';
import { z } from 'zod';
import { gatewayFields } from '../gateway-fields.ts';

const ITEMS_MAX = 10_000;
const TOOLS_MAX = 1_024;
const INCLUDES_MAX = 64;
const METADATA_MAX = 16;
const STOPS_MAX = 1_024;
const LOGPROBS_MAX = 20;

const textFormat = passFurtherFields(
  z.looseObject({
    type: z.enum(['text', 'json_object', 'json_schema']),
    name: z.string().min(1).max(64).nullish(),
    schema: anyObject().nullish(),
    description: z.string().nullish(),
    strict: z.boolean().nullish(),
  }),
);

/** The body of `POST /v1/responses`. Items and tools are read apart, since their fields depend on their types. */
export const responsesBodySchema = passFurtherFields(
  z.looseObject({
    ...gatewayFields,
    input: z
      .union([z.string(), boundedArray(anyObject(), { max: ITEMS_MAX })], {
        error: `must be a text or a list of at most ${ITEMS_MAX} items`,
      })
      .nullish(),
    instructions: z.string().nullish(),
    tools: boundedArray(anyObject(), { max: TOOLS_MAX }).nullish(),
    tool_choice: z
      .union([z.string(), anyObject()], { error: 'must be a text or an object' })
      .nullish(),
    parallel_tool_calls: z.boolean().nullish(),
    text: passFurtherFields(
      z.looseObject({
        format: textFormat.nullish(),
        verbosity: z.enum(['low', 'medium', 'high']).nullish(),
      }),
    ).nullish(),
    reasoning: passFurtherFields(
      z.looseObject({
        effort: z.string().max(32).nullish(),
        summary: z.string().max(32).nullish(),
      }),
    ).nullish(),
    max_output_tokens: tokenCount.nullish(),
    max_tool_calls: keepWritten(z.int()).nullish(),
    temperature: keepWritten(z.number()).nullish(),
    top_p: keepWritten(z.number()).nullish(),
    top_k: keepWritten(z.int()).nullish(),
    top_logprobs: keepWritten(z.int().min(0).max(LOGPROBS_MAX)).nullish(),
    presence_penalty: keepWritten(z.number()).nullish(),
    frequency_penalty: keepWritten(z.number()).nullish(),
    seed: keepWritten(z.number().refine(Number.isInteger, 'must be a whole number')).nullish(),
    stop: z.union([z.string(), boundedArray(z.string(), { max: STOPS_MAX })]).nullish(),
    chat_template_kwargs: anyObject().nullish(),
    metadata: boundedRecord(z.string(), z.string(), METADATA_MAX).nullish(),
    user: z.string().nullish(),
    safety_identifier: z.string().nullish(),
    prompt_cache_key: z.string().nullish(),
    service_tier: z.string().max(32).nullish(),
    truncation: z.enum(['auto', 'disabled']).nullish(),
    include: boundedArray(z.string().max(64), { max: INCLUDES_MAX }).nullish(),
    store: z.boolean().nullish(),
    previous_response_id: z.string().min(1).max(128).nullish(),
    stream: z.boolean().nullish(),
    stream_options: anyObject().nullish(),
    background: z.boolean().nullish(),
  }),
  countFields,
);

export type ResponsesBody = z.output<typeof responsesBodySchema>;

/** One item of an input or output, as the API has it. */
export type Item = Readonly<Record<string, unknown>>;
