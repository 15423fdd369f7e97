import { responsesApi } from '@model-gateway/dialects';
import { z } from 'zod';
import { itemPageQuerySchema } from '../responses/item-page.ts';
import { named, operations } from './operation.ts';

const { request, example, response } = responsesApi;

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

/** What the Responses API has besides its turns. */
export const responses = operations({
  countResponseTokens: {
    method: 'post',
    path: '/v1/responses/input_tokens',
    summary: 'An estimate of the tokens of a request in the Responses API; free.',
    security: ['apiKey'],
    request,
    example,
    response: named('ResponseTokens', responseTokensSchema),
  },
  getResponse: {
    method: 'get',
    path: '/v1/responses/{id}',
    summary: 'A stored response.',
    security: ['apiKey'],
    response,
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
