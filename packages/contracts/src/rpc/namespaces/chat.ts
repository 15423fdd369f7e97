import { z } from 'zod';
import { checkCounts, tokenLimit } from '../../counts.ts';
import { keepWritten } from '../../written-numbers.ts';
import { passAllFields } from '../../open-object.ts';
import { chatFields } from '../../rest/chat.ts';
import { fallbackModelsSchema, providerSchema } from '../../rest/provider.ts';
import { method } from '../method.ts';
import { modelId, refId } from './records.ts';

const STREAM_ID_CHARS_MAX = 128;

export const chatMethods = {
  'chat.send': method({
    auth: 'jwt',
    summary: 'Run a chat turn; its tokens arrive as notifications on the returned stream.',
    params: z.object({
      model: modelId,
      messages: chatFields.messages,
      temperature: keepWritten(z.number()).optional(),
      max_tokens: tokenLimit.optional(),
      conversation_id: z.uuid().optional(),
      memory: z.boolean().optional(),
      extra: passAllFields(z.record(z.string(), z.unknown()).check(checkCounts)).optional(),
      tools: chatFields.tools.optional(),
      provider: providerSchema.optional(),
      models: fallbackModelsSchema
        .optional()
        .describe('other models, which are tried in order when the model cannot answer'),
      ref_id: refId.optional().describe('your reference, stored in the usage row'),
    }),
    passesParams: true,
    result: z.object({ stream_id: z.string(), memory: z.enum(['enabled', 'disabled', 'offline']) }),
  }),
  'chat.stop': method({
    auth: 'jwt',
    summary:
      'Stop one of your chat turns: its upstream request is aborted, and what was generated is metered.',
    params: z.object({ stream_id: z.string().min(1).max(STREAM_ID_CHARS_MAX) }),
    result: z.object({
      stopped: z.boolean().describe('false when you have no such turn, or it has ended'),
    }),
    isExtension: true,
  }),
};
