import type { TimeSpan } from '@model-gateway/billing';
import { LONG_QUERY } from '../connection/long-queries.ts';
import { Prisma } from '../generated/client.ts';
import { NIL } from './slice-sql.ts';

const KEYS = Prisma.sql`cut, grain, since, user_id, key_id, group_id, project, model, upstream`;
const SUMS = Prisma.sql`
  requests, errors, failed, prompt_tokens, completion_tokens, cached_tokens, total_tokens, cost, points`;

/** Whole days, and what is still there of them. */
export interface CountedDays extends TimeSpan {
  /** Whether failed requests were not deleted. */
  readonly hasFailures: boolean;
  /** Whether the lines of all dimensions by the hour are kept. */
  readonly hasHoursOfAll: boolean;
}

/**
 * The lines that a period of whole days should have. The same sums as those of the triggers `usage_records_sum` and
 * `request_failures_sum`. Where failed requests were deleted, the kept lines are all that is known of them.
 */
const expectedLines = (days: CountedDays): Prisma.Sql => Prisma.sql`
  SELECT ${KEYS},
    sum(requests)::bigint AS requests, sum(errors)::bigint AS errors, sum(failed)::bigint AS failed,
    sum(prompt_tokens)::bigint AS prompt_tokens, sum(completion_tokens)::bigint AS completion_tokens,
    sum(cached_tokens)::bigint AS cached_tokens, sum(total_tokens)::bigint AS total_tokens,
    sum(cost) AS cost, sum(points)::bigint AS points
  FROM (
    ${linesOf(rowsWithin(days))}
    UNION ALL
    ${days.hasFailures ? linesOf(failuresWithin(days)) : keptFailures(days)}
  ) AS part
  WHERE ${isKept(days)}
  GROUP BY ${KEYS}`;

const keptFailures = (days: CountedDays): Prisma.Sql => Prisma.sql`
  SELECT ${KEYS}, 0, 0, failed, 0, 0, 0, 0, 0, 0 FROM usage_sums WHERE ${within(days)} AND failed > 0`;

const linesOf = (rows: Prisma.Sql): Prisma.Sql => Prisma.sql`
  SELECT
    CASE GROUPING(user_id, group_id, project, model)
      WHEN 14 THEN 'model' WHEN 11 THEN 'group' WHEN 13 THEN 'project' WHEN 10 THEN 'group-model'
      WHEN 1 THEN 'account' ELSE 'all' END AS cut,
    CASE WHEN GROUPING(day) = 1 THEN 'hour' ELSE 'day' END AS grain,
    coalesce(hour, day) AS since,
    coalesce(user_id, ${NIL}) AS user_id, coalesce(key_id, ${NIL}) AS key_id, coalesce(group_id, ${NIL}) AS group_id,
    coalesce(project, '') AS project, coalesce(model, '') AS model, coalesce(upstream, '') AS upstream,
    sum(requests) AS requests, sum(errors) AS errors, sum(failed) AS failed,
    sum(prompt_tokens) AS prompt_tokens, sum(completion_tokens) AS completion_tokens,
    sum(cached_tokens) AS cached_tokens, sum(total_tokens) AS total_tokens, sum(cost) AS cost, sum(points) AS points
  FROM (
    SELECT
      date_trunc('hour', created_at, 'UTC') AS hour, date_trunc('day', created_at, 'UTC') AS day,
      user_id, coalesce(key_id, ${NIL}) AS key_id, coalesce(group_id, ${NIL}) AS group_id,
      coalesce(project, '') AS project, model, coalesce(upstream, '') AS upstream,
      requests, errors, failed, prompt_tokens, completion_tokens, cached_tokens, total_tokens, cost, points
    FROM (${rows}) AS found
  ) AS row
  GROUP BY GROUPING SETS (
    (hour, model, upstream),
    (day, model, upstream),
    (hour, group_id),
    (day, group_id),
    (hour, project),
    (day, project),
    (hour, group_id, model, upstream),
    (day, group_id, model, upstream),
    (hour, user_id, key_id, group_id, project),
    (day, user_id, key_id, group_id, project),
    (hour, user_id, key_id, group_id, project, model, upstream),
    (day, user_id, key_id, group_id, project, model, upstream)
  )`;

const rowsWithin = ({ since, until }: TimeSpan): Prisma.Sql => Prisma.sql`
  SELECT
    created_at, user_id, key_id, group_id, project, model, upstream,
    1 AS requests, (status >= 400 IS TRUE)::int AS errors, 0 AS failed,
    prompt_tokens, completion_tokens, coalesce(cached_tokens, 0) AS cached_tokens, total_tokens,
    coalesce(cost::numeric, 0) AS cost, coalesce(points, 0) AS points
  FROM usage_records
  WHERE created_at >= ${since}::timestamptz AND created_at < ${until}::timestamptz`;

const failuresWithin = ({ since, until }: TimeSpan): Prisma.Sql => Prisma.sql`
  SELECT
    created_at, user_id, key_id, group_id, project, counted_model AS model, upstream,
    0 AS requests, 0 AS errors, repeats AS failed,
    0 AS prompt_tokens, 0 AS completion_tokens, 0 AS cached_tokens, 0 AS total_tokens, 0::numeric AS cost, 0 AS points
  FROM request_failures
  WHERE created_at >= ${since}::timestamptz AND created_at < ${until}::timestamptz`;

/** The condition of the kept lines of a period; it uses the primary key. */
const within = (days: CountedDays, table = Prisma.empty): Prisma.Sql => Prisma.sql`
  ${table}cut IN ('model', 'group', 'project', 'group-model', 'account', 'all') AND ${table}grain IN ('hour', 'day')
  AND ${table}since >= ${days.since}::timestamptz AND ${table}since < ${days.until}::timestamptz
  AND ${isKept(days, table)}`;

const isKept = ({ hasHoursOfAll }: CountedDays, table = Prisma.empty): Prisma.Sql =>
  hasHoursOfAll
    ? Prisma.sql`true`
    : Prisma.sql`NOT (${table}cut = 'all' AND ${table}grain = 'hour')`;

/** How many lines differ from the rows, and the number of the rows, in one snapshot. */
export const comparison = (days: CountedDays): Prisma.Sql => Prisma.sql`
  ${LONG_QUERY}
  WITH expected AS (${expectedLines(days)}),
    kept AS (SELECT ${KEYS}, ${SUMS} FROM usage_sums WHERE ${within(days)})
  SELECT
    coalesce(sum(expected.requests) FILTER (WHERE expected.cut = 'model' AND expected.grain = 'day'), 0)::int AS rows,
    count(*) FILTER (WHERE ${differs(Prisma.sql`expected`, Prisma.sql`kept`)})::int AS "wrongLines"
  FROM expected FULL JOIN kept USING (${KEYS})`;

/** Adds lines that are missing and corrects those that are wrong. */
export const correction = (days: CountedDays): Prisma.Sql => Prisma.sql`
  ${LONG_QUERY}
  INSERT INTO usage_sums AS kept (${KEYS}, ${SUMS})
  SELECT ${KEYS}, ${SUMS} FROM (${expectedLines(days)}) AS expected
  ON CONFLICT (${KEYS}) DO UPDATE SET
    requests = EXCLUDED.requests, errors = EXCLUDED.errors, failed = EXCLUDED.failed,
    prompt_tokens = EXCLUDED.prompt_tokens, completion_tokens = EXCLUDED.completion_tokens,
    cached_tokens = EXCLUDED.cached_tokens, total_tokens = EXCLUDED.total_tokens,
    cost = EXCLUDED.cost, points = EXCLUDED.points
  WHERE ${differs(Prisma.sql`EXCLUDED`, Prisma.sql`kept`)}`;

/** Removes lines that no row is counted in. With EXCEPT, because a join by loops takes minutes where statistics are old. */
export const removal = (days: CountedDays): Prisma.Sql => Prisma.sql`
  ${LONG_QUERY}
  DELETE FROM usage_sums kept
  USING (
    SELECT ${KEYS} FROM usage_sums WHERE ${within(days)}
    EXCEPT
    SELECT ${KEYS} FROM (${expectedLines(days)}) AS expected
  ) AS extra
  WHERE (kept.cut, kept.grain, kept.since, kept.user_id, kept.key_id, kept.group_id, kept.project, kept.model, kept.upstream)
    = (extra.cut, extra.grain, extra.since, extra.user_id, extra.key_id, extra.group_id, extra.project, extra.model,
      extra.upstream)
    AND ${within(days, Prisma.sql`kept.`)}`;

const differs = (one: Prisma.Sql, other: Prisma.Sql): Prisma.Sql =>
  Prisma.sql`${sumsOf(one)} IS DISTINCT FROM ${sumsOf(other)}`;

const sumsOf = (line: Prisma.Sql): Prisma.Sql => Prisma.sql`(
  ${line}.requests, ${line}.errors, ${line}.failed, ${line}.prompt_tokens, ${line}.completion_tokens,
  ${line}.cached_tokens, ${line}.total_tokens, ${line}.cost, ${line}.points)`;
