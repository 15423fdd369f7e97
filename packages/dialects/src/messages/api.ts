import { z } from 'zod';
import type { ClientApi, OwnErrors } from '../client-api.ts';
import { messagesDialect } from './index.ts';
import { messagesBodySchema } from './request.ts';

/** A message object; its further fields are those of Anthropic's API. */
const messageSchema = z.looseObject({
  id: z.string(),
  type: z.literal('message'),
  role: z.literal('assistant'),
  model: z.string(),
  content: z.array(z.looseObject({ type: z.string() })),
  stop_reason: z.string(),
  usage: z.looseObject({ input_tokens: z.int(), output_tokens: z.int() }),
});

/** The body of a refused or failed request of the Messages API, which knows neither 502 nor 503. */
export const messagesErrors: OwnErrors = {
  name: 'MessagesError',
  schema: z.object({
    type: z.literal('error'),
    error: z.object({
      type: z.string(),
      message: z.string(),
      /** What a client of this API may do without. */
      details: z.object({ error_code: z.string(), unsupported: z.array(z.string()) }).optional(),
    }),
    request_id: z.string(),
  }),
  failures: [500, 529],
};

/** `POST /v1/messages`. */
export const messagesApi: ClientApi = {
  dialect: messagesDialect,
  path: '/v1/messages',
  id: 'createMessage',
  summary: 'A chat turn in the form of the Messages API, streamed or not.',
  request: { name: 'MessageRequest', schema: messagesBodySchema.required({ max_tokens: true }) },
  example: {
    model: 'demo-chat',
    messages: [{ role: 'user', content: 'Hello!' }],
    max_tokens: 100,
  },
  response: { name: 'Message', schema: messageSchema },
  streams: 'An `event:` and a `data:` line per event; `message_stop` is the last one.',
  errors: messagesErrors,
};
