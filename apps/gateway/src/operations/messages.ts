import { messagesBodySchema, messagesErrors } from '@model-gateway/dialects';
import { z } from 'zod';
import { named, operations } from './operation.ts';

const messageTokensSchema = z.object({ input_tokens: z.int() });

/** What the Messages API has besides its turns. */
export const messages = operations({
  countMessageTokens: {
    method: 'post',
    security: ['apiKey'],
    errors: messagesErrors,
    path: '/v1/messages/count_tokens',
    summary: 'An estimate of the tokens of a request in the form of the Messages API; free.',
    request: named('MessageTokensRequest', messagesBodySchema),
    example: { model: 'demo-chat', messages: [{ role: 'user', content: 'Hello!' }] },
    response: named('MessageTokens', messageTokensSchema),
  },
});
