import { z } from 'zod';
import { method } from '../method.ts';
import { text, timestamp } from './records.ts';

export const memoryMethods = {
  'memory.status': method({
    auth: 'jwt',
    summary: 'Whether long-term memory is enabled, and its recent events for you.',
    params: z.object({}),
    result: z.object({
      enabled: z.boolean(),
      writeback: z.boolean(),
      events: z.array(
        z.object({
          at: timestamp,
          kind: z.enum(['recall', 'write', 'delete', 'error']),
          node_ids: z.array(z.string()),
          detail: z.string().nullable(),
        }),
      ),
    }),
  }),
  'memory.delete': method({
    auth: 'jwt',
    summary: 'Delete one of your memories.',
    params: z.object({ node_id: text(256).min(1) }),
    result: z.object({ deleted: z.boolean() }),
  }),
};
