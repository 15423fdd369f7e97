import { z } from 'zod';
import { timeBoundText } from '../../rest/time-bound-text.ts';
import { modelId, record, text, timestamp } from './records.ts';

/** Whose requests a summary or a list is about. */
export const requestScope = z.enum(['self', 'all', 'group']);

/** Which of these requests. */
export const requestFilter = {
  from: timeBoundText('start-of-day')
    .optional()
    .describe('from this time, or from the start of this UTC day'),
  to: timeBoundText('end-of-day')
    .optional()
    .describe('before this time, or up to the end of this UTC day'),
  model: modelId.optional(),
  upstream: text(255).min(1).optional().describe('the name of a backend'),
  key_id: z.uuid().optional(),
  project: text(128).min(1).optional(),
  group_id: z.uuid().optional(),
  user_id: z.uuid().optional(),
};

/** Both after validation. */
export interface RequestFilter extends z.output<z.ZodObject<typeof requestFilter>> {
  /** Without one: all requests for platform admins, their own for others. */
  readonly scope?: z.output<typeof requestScope> | undefined;
}

const groupBy = z.enum(['day', 'hour', 'model', 'upstream', 'key', 'project', 'group', 'user']);

/** The params of `usage.summary`, and the query of `GET /api/usage.csv`. */
export const spendSummaryParams = z.object({
  scope: requestScope
    .default('self')
    .describe('your own; `all` for admins; `group` with `group_id` for the admins of a group'),
  ...requestFilter,
  group_by: groupBy,
});

const sums = {
  /** Requests that were served, also in part. All that were asked: `requests` and `failed`. */
  requests: z.int(),
  /** Served and failed requests that ended with an error. A client that stops is none. */
  errors: z.int(),
  /** Requests that were not served: they are not among `requests`. */
  failed: z.int(),
  /** Served requests that their clients stopped: they are among `requests` and not among `errors`. */
  cancelled: z.int(),
  prompt_tokens: z.int(),
  completion_tokens: z.int(),
  cached_tokens: z.int(),
  total_tokens: z.int(),
  cost_usd: z.number(),
  points: z.int(),
};

/** Sums over requests. */
const spendSums = record('SpendSums', sums);

/** The answer of `usage.summary`. */
export const spendSummary = z.object({
  from: timestamp,
  to: timestamp,
  group_by: groupBy,
  /** Days and hours in their order; others by cost, the highest first. At most 10,000. */
  groups: z.array(
    record('SpendGroup', {
      /** A day is `YYYY-MM-DD`, an hour its first moment; keys, groups and users are their ids. Null without one. */
      key: z.string().nullable(),
      /** Of a key or group, the email of a user; with the scopes `all` and `group`, while it exists. */
      name: z.string().optional(),
      ...sums,
    }),
  ),
  total: spendSums,
});
