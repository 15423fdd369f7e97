import { chatCompletionSchema, chatRequestSchema } from '@model-gateway/contracts';
import type { ClientApi } from '../client-api.ts';
import { chatDialect } from './index.ts';

/** `POST /v1/chat/completions`. */
export const chatApi: ClientApi = {
  dialect: chatDialect,
  path: '/v1/chat/completions',
  id: 'createChatCompletion',
  summary: 'A chat turn, streamed or not.',
  request: { name: 'ChatRequest', schema: chatRequestSchema },
  example: {
    model: 'demo-chat',
    messages: [{ role: 'user', content: 'Say hello in five words.' }],
  },
  response: { name: 'ChatCompletion', schema: chatCompletionSchema },
  streams:
    'One `data:` line per chunk, then `[DONE]`. A stream that is cut off ends with `data: {"error": …}` instead, and its connection breaks.',
};
