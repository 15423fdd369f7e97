import { z } from 'zod';
import { chatMessageSchema } from '../rest/chat.ts';
import { method } from './method.ts';
import { modelId } from './records.ts';

export const chatMethods = {
  'chat.send': method({
    auth: 'jwt',
    summary: 'Run a chat turn; its tokens arrive as notifications on the returned stream.',
    params: z.object({
      model: modelId,
      messages: z.array(chatMessageSchema).min(1),
      temperature: z.number().optional(),
      max_tokens: z.int().positive().optional(),
      conversation_id: z.uuid().optional(),
      memory: z.boolean().optional(),
      extra: z.record(z.string(), z.unknown()).optional(),
      tools: z.array(z.record(z.string(), z.unknown())).optional(),
      provider: z.string().optional(),
    }),
    result: z.object({ stream_id: z.string(), memory: z.enum(['enabled', 'disabled', 'offline']) }),
  }),
};
