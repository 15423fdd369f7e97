import { z } from 'zod';
import { boundedArray } from '../bounded-array.ts';
import { clamped, usageRecord } from '../rpc/namespaces/records.ts';
import { timeBoundText } from './time-bound-text.ts';

const REF_CHARS_MAX = 64;
const REFS_MAX = 1_000;
const LIMIT_DEFAULT = 100;
const LIMIT_MAX = 500;
const OFFSET_MAX = 2 ** 31 - 1;

/** A character beyond 16 bits takes two units of a string. */
const firstCharacters = (ref: string): string =>
  Array.from(ref.slice(0, 2 * REF_CHARS_MAX))
    .slice(0, REF_CHARS_MAX)
    .join('');

/** Trimmed and cut to the maximum length; blank ones are dropped. */
const refIds = boundedArray(
  z
    .string()
    .refine((ref) => !ref.includes('\u0000'), 'must not contain NUL characters')
    .transform((ref) => firstCharacters(ref.trim())),
  { max: REFS_MAX },
).transform((refs) => [...new Set(refs.filter((ref) => ref !== ''))]);

/** The body of `POST /api/admin/usage/query`: every field is optional, and a row must match all that are given. */
export const usageQuerySchema = z.object({
  ref_ids: refIds
    .nullish()
    .transform((refs) => refs ?? [])
    .describe('rows with any of these references; an empty list selects all rows'),
  since: timeBoundText('start-of-day')
    .nullish()
    .describe('from this time, or from the start of this UTC day'),
  until: timeBoundText('end-of-day')
    .nullish()
    .describe('before this time, or up to the end of this UTC day'),
  group_by: z.enum(['model', 'backend', 'ref', 'day']).nullish(),
  limit: clamped(1, LIMIT_MAX)
    .nullable()
    .prefault(LIMIT_DEFAULT)
    .transform((limit) => limit ?? LIMIT_DEFAULT),
  offset: clamped(0, OFFSET_MAX)
    .nullable()
    .prefault(0)
    .transform((offset) => offset ?? 0),
  include_records: z
    .boolean()
    .nullable()
    .prefault(false)
    .transform((included) => included ?? false),
});

const sums = z.object({
  requests: z.int(),
  prompt_tokens: z.int(),
  completion_tokens: z.int(),
  total_tokens: z.int(),
  /** Rows without a price count as 0. */
  cost_usd: z.number(),
});

/** The response of `POST /api/admin/usage/query`. */
export const usageQueryResultSchema = z.object({
  totals: sums,
  /** With `group_by`: ordered by most tokens, then by key. */
  groups: z.array(sums.extend({ key: z.string().nullable() })).optional(),
  /** With `include_records`: newest first, then by id. */
  records: z.array(usageRecord.extend({ api_key_id: z.string() })).optional(),
  records_total: z.int().optional(),
  limit: z.int().optional(),
  offset: z.int().optional(),
});
