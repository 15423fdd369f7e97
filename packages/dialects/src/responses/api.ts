import { z } from 'zod';
import type { ClientApi } from '../client-api.ts';
import { responsesBodySchema } from './body.ts';
import { responsesDialect } from './index.ts';

/** A Response object; its further fields are those of OpenAI's API. */
const responseSchema = z.looseObject({
  id: z.string(),
  object: z.literal('response'),
  created_at: z.int(),
  status: z.enum(['completed', 'incomplete', 'failed', 'in_progress']),
  model: z.string(),
  output: z.array(z.looseObject({ id: z.string(), type: z.string() })),
});

/** `POST /v1/responses`. */
export const responsesApi: ClientApi = {
  dialect: responsesDialect,
  path: '/v1/responses',
  id: 'createResponse',
  summary: 'A chat turn in the Responses API, streamed or not.',
  request: { name: 'ResponseRequest', schema: responsesBodySchema },
  example: { model: 'demo-chat', input: 'Hello!' },
  response: { name: 'Response', schema: responseSchema },
  streams: 'An `event:` and a `data:` line per event, then `data: [DONE]`.',
};
