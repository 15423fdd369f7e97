import { z } from 'zod';
import { method } from './method.ts';
import { done, keyRecord, label } from './records.ts';

export const keysMethods = {
  'keys.list': method({
    auth: 'jwt',
    summary: 'Your API keys, newest first.',
    params: z.object({}),
    result: z.array(keyRecord),
  }),
  'keys.create': method({
    auth: 'jwt',
    summary:
      'Create an API key; its secret is shown only once. With group_id, the group pays for its requests.',
    params: z.object({ name: label, project: label.optional(), group_id: z.uuid().optional() }),
    result: keyRecord.extend({ key: z.string() }),
    hasSecretResult: true,
  }),
  'keys.revoke': method({
    auth: 'jwt',
    summary: 'Revoke a key, effective immediately.',
    params: z.object({ key_id: z.uuid() }),
    result: done,
  }),
};
