import { messagesBodySchema } from '@model-gateway/dialects';
import { z } from 'zod';
import { inferenceHeaders, named, operations } from './operation.ts';

const example = { model: 'demo-chat', messages: [{ role: 'user', content: 'Hello!' }] };

/** The body of `POST /v1/messages`. */
const createMessageSchema = messagesBodySchema.required({ max_tokens: true });

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

const messageTokensSchema = z.object({ input_tokens: z.int() });

/** The body of a refused or failed request of the Messages API. */
export const messagesErrorSchema = z.object({
  type: z.literal('error'),
  error: z.object({
    type: z.string(),
    message: z.string(),
    /** What a client of this API may do without. */
    details: z.object({ error_code: z.string(), unsupported: z.array(z.string()) }).optional(),
  }),
  request_id: z.string(),
});

const common = { method: 'post', security: ['apiKey'], hasMessagesErrors: true } as const;

/** The operations of the Messages API. */
export const messages = operations({
  createMessage: {
    ...common,
    path: '/v1/messages',
    summary: 'A chat turn in the form of the Messages API, streamed or not.',
    headers: inferenceHeaders,
    request: named('MessageRequest', createMessageSchema),
    example: { ...example, max_tokens: 100 },
    response: named('Message', messageSchema),
    streams: 'An `event:` and a `data:` line per event; `message_stop` is the last one.',
  },
  countMessageTokens: {
    ...common,
    path: '/v1/messages/count_tokens',
    summary: 'An estimate of the tokens of a request in the form of the Messages API; free.',
    request: named('MessageTokensRequest', messagesBodySchema),
    example,
    response: named('MessageTokens', messageTokensSchema),
  },
});
