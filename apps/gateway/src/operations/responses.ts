import { responsesBodySchema } from '@model-gateway/dialects';
import { z } from 'zod';
import { itemPageQuerySchema } from '../responses/item-page.ts';
import { inferenceHeaders, named, operations } from './operation.ts';

const example = { model: 'demo-chat', input: 'Hello!' };

/** A Response object; its further fields are those of OpenAI's API. */
const responseSchema = z.looseObject({
  id: z.string(),
  object: z.literal('response'),
  created_at: z.int(),
  status: z.enum(['completed', 'incomplete', 'failed', 'in_progress']),
  model: z.string(),
  output: z.array(z.looseObject({ id: z.string(), type: z.string() })),
});

const responseTokensSchema = z.object({
  object: z.literal('response.input_tokens'),
  input_tokens: z.int(),
});

const responseDeletedSchema = z.object({
  id: z.string(),
  object: z.literal('response'),
  deleted: z.literal(true),
});

const inputItemsSchema = z.object({
  object: z.literal('list'),
  data: z.array(z.looseObject({ id: z.string(), type: z.string() })),
  first_id: z.string().nullable(),
  last_id: z.string().nullable(),
  has_more: z.boolean(),
});

/** The operations of the Responses API. */
export const responses = operations({
  createResponse: {
    method: 'post',
    path: '/v1/responses',
    summary: 'A chat turn in the Responses API, streamed or not.',
    security: ['apiKey'],
    headers: inferenceHeaders,
    request: named('ResponseRequest', responsesBodySchema),
    example,
    response: named('Response', responseSchema),
    streams: 'An `event:` and a `data:` line per event, then `data: [DONE]`.',
  },
  countResponseTokens: {
    method: 'post',
    path: '/v1/responses/input_tokens',
    summary: 'An estimate of the tokens of a request in the Responses API; free.',
    security: ['apiKey'],
    request: named('ResponseRequest', responsesBodySchema),
    example,
    response: named('ResponseTokens', responseTokensSchema),
  },
  getResponse: {
    method: 'get',
    path: '/v1/responses/{id}',
    summary: 'A stored response.',
    security: ['apiKey'],
    response: named('Response', responseSchema),
  },
  deleteResponse: {
    method: 'delete',
    path: '/v1/responses/{id}',
    summary: 'Delete a stored response.',
    security: ['apiKey'],
    response: named('ResponseDeleted', responseDeletedSchema),
  },
  listInputItems: {
    method: 'get',
    path: '/v1/responses/{id}/input_items',
    summary: 'The items that a stored response was generated from, page by page.',
    security: ['apiKey'],
    query: itemPageQuerySchema,
    response: named('InputItems', inputItemsSchema),
  },
});
