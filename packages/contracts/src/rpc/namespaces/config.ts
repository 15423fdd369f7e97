import { z } from 'zod';
import { boundedRecord } from '../../bounded-record.ts';
import { method } from '../method.ts';
import { text } from './records.ts';

/** So that reading it does not keep other calls waiting. */
const FILE_CHARS_MAX = 100_000;
const NAME_CHARS_MAX = 255;
const VALUE_CHARS_MAX = 8_192;
const VARIABLES_MAX = 200;

const entry = z.object({ section: z.string(), name: z.string() });
const change = entry.extend({
  reason: z
    .string()
    .nullable()
    .describe('what the file alone does not explain, such as a change in the database'),
});

export const configMethods = {
  'config.check': method({
    auth: 'admin-or-admin-token',
    summary:
      'Check the text of a configuration file, and say what applying it would change. Nothing is applied.',
    isExtension: true,
    params: z.object({
      text: z.string().max(FILE_CHARS_MAX),
      variables: boundedRecord(z.string().max(NAME_CHARS_MAX), text(VALUE_CHARS_MAX), VARIABLES_MAX)
        .default({})
        .describe('what `${NAME}` in the file stands for; variables of the service are not used'),
    }),
    result: z.object({
      problems: z
        .array(z.object({ line: z.int(), column: z.int(), field: z.string(), message: z.string() }))
        .describe('empty for a file that is right'),
      /** Null for a file that is wrong. */
      plan: z
        .object({
          added: z.array(change),
          changed: z.array(change),
          removed: z.array(entry),
          unchanged: z.int(),
        })
        .nullable(),
    }),
  }),
};
