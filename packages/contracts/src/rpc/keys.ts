import { z } from 'zod';
import { method } from './method.ts';

const NAME_CHARS_MAX = 128;

export const keysMethods = {
  'keys.create': method({
    auth: 'jwt',
    summary: 'Create an API key; its secret is shown this once.',
    params: z.object({
      name: z.string().trim().min(1).max(NAME_CHARS_MAX),
      project: z.string().trim().min(1).max(NAME_CHARS_MAX).optional(),
    }),
    result: z.object({
      id: z.uuid(),
      name: z.string(),
      key: z.string(),
      key_prefix: z.string(),
      key_hint: z.string(),
      project: z.string(),
      group_id: z.uuid().nullable(),
      created_at: z.iso.datetime(),
    }),
  }),
};
