import { z } from 'zod';
import { aliasListSchema, aliasRemovalSchema, aliasRequestSchema } from '../../rest/aliases.ts';
import { method } from '../method.ts';
import { done, listLimit, modelId } from './records.ts';

export const aliasesMethods = {
  'aliases.list': method({
    auth: 'admin-or-admin-token',
    summary: 'The aliases of models, sorted, at most 1,000 at a time.',
    isExtension: true,
    params: z.object({
      after: modelId.nullish().describe('only aliases after this one'),
      limit: listLimit,
    }),
    result: aliasListSchema.extend({
      has_more: z.boolean(),
      after: z.string().nullable().describe('for the next call, if there are more'),
    }),
  }),
  'aliases.set': method({
    auth: 'admin-or-admin-token',
    summary:
      'Give a model another name, or change what a name means. It is lost when all processes stop.',
    isExtension: true,
    params: aliasRequestSchema,
    result: done,
  }),
  'aliases.remove': method({
    auth: 'admin-or-admin-token',
    summary: 'Remove an alias.',
    isExtension: true,
    params: aliasRemovalSchema,
    result: done,
  }),
};
