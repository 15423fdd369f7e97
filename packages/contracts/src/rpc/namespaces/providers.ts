import { z } from 'zod';
import { method } from '../method.ts';
import { description, done, label, listLimit, record, text } from './records.ts';

const id = text(64).min(1);
const domain = text(253);

const provider = record('Provider', {
  id: z.string(),
  name: z.string(),
  description: z.string(),
  website_domain: z.string(),
  is_official: z.boolean(),
  is_operator: z.boolean(),
});

export const providersMethods = {
  'providers.list': method({
    auth: 'public',
    summary: 'List the providers, built-in and then custom, at most 1,000 at a time.',
    params: z.object({
      after: text(64).nullish().describe('only providers after the one with this id'),
      limit: listLimit,
    }),
    result: z.array(provider),
  }),
  'providers.add': method({
    auth: 'admin',
    summary: 'Add a custom provider.',
    params: z.object({
      id,
      name: label,
      description: description.optional(),
      website_domain: domain.optional(),
    }),
    result: done,
  }),
  'providers.update': method({
    auth: 'admin',
    summary: 'Change the given fields of a custom provider.',
    params: z.object({
      provider_id: id,
      name: label.optional(),
      description: description.optional(),
      website_domain: domain.optional(),
    }),
    result: done,
  }),
  'providers.remove': method({
    auth: 'admin',
    summary: 'Remove a custom provider.',
    params: z.object({ provider_id: id }),
    result: done,
  }),
  'providers.test': method({
    auth: 'admin',
    summary: 'Not implemented; returns a message that says so.',
    params: z.object({}),
    result: done.extend({ message: z.string() }),
  }),
};
