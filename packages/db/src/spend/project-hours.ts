import type { SpendFilter, TimeSpan } from '@model-gateway/billing';
import { LONG_QUERY } from '../connection/long-queries.ts';
import { Prisma } from '../generated/client.ts';
import { NIL } from './slice-sql.ts';

// The hours of the projects of a group: kept lines of groups that had many lines of accounts on a past day, so that the chart of a
// project in a group does not read the lines of all its members. They are made with the rests of a day. As long as the requests of
// a group equal the lines of groups, no row was counted since, and they are right.

/** How many lines of accounts on a day: fewer are read about as fast. */
const LINES_MIN = 200;
/** The cut of these lines. */
export const GROUP_PROJECT = 'group-project';

const KEYS = Prisma.sql`since, group_id, project`;
const SUMS = Prisma.sql`
  requests, errors, failed, prompt_tokens, completion_tokens, cached_tokens, total_tokens, cost, points`;

const startsWithin = ({ since, until }: TimeSpan): Prisma.Sql =>
  Prisma.sql`since >= ${since}::timestamptz AND since < ${until}::timestamptz`;

/** Whether the lines of a group have all rows of these hours. Where neither has any, this is true as well. */
export const areProjectHoursRight = (
  hours: TimeSpan,
  groupId: NonNullable<SpendFilter['groupId']>,
): Prisma.Sql => {
  const counted = (cut: string): Prisma.Sql => Prisma.sql`(
    SELECT ROW(coalesce(sum(requests), 0), coalesce(sum(failed), 0)) FROM usage_sums
    WHERE cut = ${cut} AND grain = 'hour' AND group_id = ${groupId}::uuid AND ${startsWithin(hours)}
  )`;
  return Prisma.sql`${counted(GROUP_PROJECT)} = ${counted('group')}`;
};

/** Lines by the hour of some groups, from the lines of accounts. */
const linesOf = (day: TimeSpan, groups: Prisma.Sql): Prisma.Sql => Prisma.sql`
  SELECT
    ${KEYS}, sum(requests)::bigint AS requests, sum(errors)::bigint AS errors, sum(failed)::bigint AS failed,
    sum(prompt_tokens)::bigint AS prompt_tokens, sum(completion_tokens)::bigint AS completion_tokens,
    sum(cached_tokens)::bigint AS cached_tokens, sum(total_tokens)::bigint AS total_tokens,
    sum(cost) AS cost, sum(points)::bigint AS points
  FROM usage_sums
  WHERE cut = 'account' AND grain = 'hour' AND ${startsWithin(day)} AND group_id IN (${groups})
  GROUP BY ${KEYS}`;

/** Makes the lines of a day. */
export const madeProjectHours = (day: TimeSpan): Prisma.Sql => Prisma.sql`
  ${LONG_QUERY}
  INSERT INTO usage_sums_group_project (cut, grain, ${KEYS}, user_id, key_id, model, upstream, ${SUMS})
  SELECT ${GROUP_PROJECT}, 'hour', ${KEYS}, ${NIL}, ${NIL}, '', '', ${SUMS}
  FROM (${linesOf(day, largeGroups(day))}) AS line`;

const largeGroups = (day: TimeSpan): Prisma.Sql => Prisma.sql`
  SELECT group_id FROM usage_sums
  WHERE cut = 'account' AND grain = 'hour' AND ${startsWithin(day)} AND group_id <> ${NIL}
  GROUP BY group_id HAVING count(*) >= ${LINES_MIN}`;

/** Removes the lines of these days. */
export const removedProjectHours = (days: TimeSpan): Prisma.Sql => Prisma.sql`
  DELETE FROM usage_sums_group_project
  WHERE cut = ${GROUP_PROJECT} AND grain = 'hour' AND ${startsWithin(days)}`;

/** How many lines that would be read differ from the lines of accounts. */
export const projectHoursComparison = (day: TimeSpan): Prisma.Sql => {
  const counted = (cut: string): Prisma.Sql => Prisma.sql`
    SELECT group_id, sum(requests) AS requests, sum(failed) AS failed FROM usage_sums
    WHERE cut = ${cut} AND grain = 'hour' AND ${startsWithin(day)} GROUP BY group_id`;
  return Prisma.sql`
    ${LONG_QUERY}
    WITH right_ones AS MATERIALIZED (
      SELECT group_id FROM (${counted(GROUP_PROJECT)}) AS made
      JOIN (${counted('group')}) AS whole USING (group_id, requests, failed)
    ), expected AS (${linesOf(day, Prisma.sql`SELECT group_id FROM right_ones`)}), kept AS (
      SELECT ${KEYS}, ${SUMS} FROM usage_sums
      WHERE cut = ${GROUP_PROJECT} AND grain = 'hour' AND ${startsWithin(day)}
        AND group_id IN (SELECT group_id FROM right_ones)
    )
    SELECT count(*)::int AS "wrongLines"
    FROM expected FULL JOIN kept USING (${KEYS})
    WHERE (expected.requests, expected.errors, expected.failed, expected.prompt_tokens, expected.completion_tokens,
        expected.cached_tokens, expected.total_tokens, expected.cost, expected.points)
      IS DISTINCT FROM (kept.requests, kept.errors, kept.failed, kept.prompt_tokens, kept.completion_tokens,
        kept.cached_tokens, kept.total_tokens, kept.cost, kept.points)`;
};
