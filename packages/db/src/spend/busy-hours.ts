import type { SpendFilter, TimeSpan } from '@model-gateway/billing';
import { LONG_QUERY } from '../connection/long-queries.ts';
import { Prisma } from '../generated/client.ts';
import { NIL } from './slice-sql.ts';

// The hours of busy users: kept lines of all dimensions, of users who had many requests on a past day, and of no others, because
// for them the lines would be almost as many as the rows. They are made with the rests of a day. As long as the requests of a
// user equal the lines of accounts, no row was counted since, and they are right.

/** How many requests on a day make a user busy: fewer rows are read about as fast as lines. */
const REQUESTS_MIN = 500;
/** The cut of these lines. */
export const BUSY = 'busy';

const KEYS = Prisma.sql`since, user_id, key_id, group_id, project, model, upstream`;
const SUMS = Prisma.sql`
  requests, errors, failed, prompt_tokens, completion_tokens, cached_tokens, total_tokens, cost, points`;

const startsWithin = ({ since, until }: TimeSpan): Prisma.Sql =>
  Prisma.sql`since >= ${since}::timestamptz AND since < ${until}::timestamptz`;

/** Whether the lines of a user have all rows of these hours. Where neither has any, this is true as well. */
export const areBusyHoursRight = (
  hours: TimeSpan,
  userId: NonNullable<SpendFilter['userId']>,
): Prisma.Sql => {
  const counted = (cut: string): Prisma.Sql => Prisma.sql`(
    SELECT ROW(coalesce(sum(requests), 0), coalesce(sum(failed), 0)) FROM usage_sums
    WHERE cut = ${cut} AND grain = 'hour' AND user_id = ${userId}::uuid AND ${startsWithin(hours)}
  )`;
  return Prisma.sql`${counted(BUSY)} = ${counted('account')}`;
};

/** Lines by the hour of all dimensions, of the rows and failed requests of some users. */
const linesOf = ({ since, until }: TimeSpan, users: Prisma.Sql): Prisma.Sql => {
  const isWithin = Prisma.sql`
    created_at >= ${since}::timestamptz AND created_at < ${until}::timestamptz AND user_id IN (${users})`;
  return Prisma.sql`
    SELECT
      ${KEYS}, sum(requests)::bigint AS requests, sum(errors)::bigint AS errors, sum(failed)::bigint AS failed,
      sum(prompt_tokens)::bigint AS prompt_tokens, sum(completion_tokens)::bigint AS completion_tokens,
      sum(cached_tokens)::bigint AS cached_tokens, sum(total_tokens)::bigint AS total_tokens,
      sum(cost) AS cost, sum(points)::bigint AS points
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
};

/** Makes the lines of a day. */
export const madeBusyHours = (day: TimeSpan): Prisma.Sql => Prisma.sql`
  ${LONG_QUERY}
  INSERT INTO usage_sums_busy (cut, grain, ${KEYS}, ${SUMS})
  SELECT ${BUSY}, 'hour', ${KEYS}, ${SUMS} FROM (${linesOf(day, busyUsers(day))}) AS line`;

const busyUsers = ({ since }: TimeSpan): Prisma.Sql => Prisma.sql`
  SELECT user_id FROM usage_sums
  WHERE cut = 'account' AND grain = 'day' AND since = ${since}::timestamptz
  GROUP BY user_id HAVING sum(requests) >= ${REQUESTS_MIN}`;

/** Removes the lines of these days. */
export const removedBusyHours = (days: TimeSpan): Prisma.Sql => Prisma.sql`
  DELETE FROM usage_sums_busy WHERE cut = ${BUSY} AND grain = 'hour' AND ${startsWithin(days)}`;

/** How many lines that would be read differ from the rows. */
export const busyHoursComparison = (day: TimeSpan): Prisma.Sql => {
  const counted = (cut: string): Prisma.Sql => Prisma.sql`
    SELECT user_id, sum(requests) AS requests, sum(failed) AS failed FROM usage_sums
    WHERE cut = ${cut} AND grain = 'hour' AND ${startsWithin(day)} GROUP BY user_id`;
  return Prisma.sql`
    ${LONG_QUERY}
    WITH right_ones AS MATERIALIZED (
      SELECT user_id FROM (${counted(BUSY)}) AS busy
      JOIN (${counted('account')}) AS account USING (user_id, requests, failed)
    ), expected AS (${linesOf(day, Prisma.sql`SELECT user_id FROM right_ones`)}), kept AS (
      SELECT ${KEYS}, ${SUMS} FROM usage_sums
      WHERE cut = ${BUSY} AND grain = 'hour' AND ${startsWithin(day)} AND user_id IN (SELECT user_id FROM right_ones)
    )
    SELECT count(*)::int AS "wrongLines"
    FROM expected FULL JOIN kept USING (${KEYS})
    WHERE (expected.requests, expected.errors, expected.failed, expected.prompt_tokens, expected.completion_tokens,
        expected.cached_tokens, expected.total_tokens, expected.cost, expected.points)
      IS DISTINCT FROM (kept.requests, kept.errors, kept.failed, kept.prompt_tokens, kept.completion_tokens,
        kept.cached_tokens, kept.total_tokens, kept.cost, kept.points)`;
};
