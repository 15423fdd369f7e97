import { Prisma } from '../generated/client.ts';
import { ADDED_SUMS, type MadeHours } from './made-hours.ts';
import { NIL } from './slice-sql.ts';

/** How many requests on a day make a user busy: fewer rows are read about as fast as lines. */
const REQUESTS_MIN = 500;
const KEYS = Prisma.sql`since, user_id, key_id, group_id, project, model, upstream`;

/** Lines of all dimensions by the hour, only of busy users: for others they would be almost as many as the rows. */
export const BUSY_HOURS: MadeHours = {
  cut: 'busy',
  table: Prisma.sql`usage_sums_busy`,
  owner: Prisma.sql`user_id`,
  keys: KEYS,
  keptCut: 'account',
  large: ({ since }) => Prisma.sql`
    SELECT user_id FROM usage_sums
    WHERE cut = 'account' AND grain = 'day' AND since = ${since}::timestamptz
    GROUP BY user_id HAVING sum(requests) >= ${REQUESTS_MIN}`,
  lines({ since, until }, users) {
    const isWithin = Prisma.sql`
      created_at >= ${since}::timestamptz AND created_at < ${until}::timestamptz AND user_id IN (${users})`;
    return Prisma.sql`
      SELECT ${KEYS}, ${ADDED_SUMS}
      FROM (
        SELECT
          date_bin('1 hour', created_at, '2000-01-01T00:00:00Z') AS since,
          user_id, coalesce(key_id, ${NIL}) AS key_id, coalesce(group_id, ${NIL}) AS group_id,
          coalesce(project, '') AS project, model, coalesce(upstream, '') AS upstream,
          1 AS requests, (status >= 400 IS TRUE)::int AS errors, 0 AS failed, prompt_tokens, completion_tokens,
          coalesce(cached_tokens, 0) AS cached_tokens, total_tokens, coalesce(cost::numeric, 0) AS cost,
          coalesce(points, 0) AS points
        FROM usage_records WHERE ${isWithin}
        UNION ALL
        SELECT
          date_bin('1 hour', created_at, '2000-01-01T00:00:00Z'), user_id, coalesce(key_id, ${NIL}),
          coalesce(group_id, ${NIL}), coalesce(project, ''), counted_model, coalesce(upstream, ''),
          0, 0, repeats, 0, 0, 0, 0, 0, 0
        FROM request_failures WHERE ${isWithin}
      ) AS row
      GROUP BY ${KEYS}`;
  },
};
