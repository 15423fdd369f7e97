import type { TimeSpan } from '@model-gateway/billing';
import { LONG_QUERY } from '../connection/long-queries.ts';
import { Prisma } from '../generated/client.ts';
import { NIL } from './slice-sql.ts';

// The rests of a day are kept lines of accounts from an hour to the end of the day, made when the day is over. They are right
// as long as the line of all accounts equals the lines of the hours (docs/decisions/0019-kept-sums.md).

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Rests begin at every third hour, so that the one nearest to an hour is at most one hour away. */
const STEP_HOURS = 3;
const STEP_MS = STEP_HOURS * HOUR_MS;
const STEP = Prisma.raw(`${STEP_HOURS} hours`);
/** For how many days rests are kept. Parts of earlier days are read from the lines of hours. */
const DAYS_KEPT = 31;

const SUMS = Prisma.sql`
  requests, errors, failed, prompt_tokens, completion_tokens, cached_tokens, total_tokens, cost, points`;
const ADDED = Prisma.sql`
  sum(requests) AS requests, sum(errors) AS errors, sum(failed) AS failed, sum(prompt_tokens) AS prompt_tokens,
  sum(completion_tokens) AS completion_tokens, sum(cached_tokens) AS cached_tokens, sum(total_tokens) AS total_tokens,
  sum(cost) AS cost, sum(points) AS points`;
const ACCOUNT = Prisma.sql`user_id, key_id, group_id, project`;

/** Kept lines that are added or subtracted. */
export interface RestPart {
  readonly grain: 'day' | 'hour' | 'rest';
  readonly span: TimeSpan;
  readonly isSubtracted: boolean;
}

/**
 * Whole hours of a day as lines that are added and subtracted; undefined if the day has no rests, or its hours are not more
 * lines.
 */
export function partsOfRests(hours: TimeSpan, now: Date): readonly RestPart[] | undefined {
  const start = Math.floor(hours.since.getTime() / DAY_MS) * DAY_MS;
  const [since, until] = [hours.since.getTime(), hours.until.getTime()];
  const parts = [...untilEnd(since, start, false), ...untilEnd(until, start, true)];
  const hourCount = (until - since) / HOUR_MS;
  const linesWithout = Math.min(hourCount, DAY_MS / HOUR_MS - hourCount + 1);
  return isKept(start, now) && parts.length < linesWithout ? parts : undefined;
}

/** From a moment to the end of its day: the nearest rest, and the hour up to it or from it. */
function untilEnd(moment: number, start: number, isSubtracted: boolean): readonly RestPart[] {
  const nearest = Math.round(moment / STEP_MS) * STEP_MS;
  const grain = nearest === start ? 'day' : 'rest';
  const part = (from: number, to: number): TimeSpan => ({
    since: new Date(from),
    until: new Date(to),
  });
  return [
    ...(nearest === start + DAY_MS
      ? []
      : [{ grain, span: part(nearest, nearest + HOUR_MS), isSubtracted } as const]),
    ...(moment < nearest
      ? [{ grain: 'hour', span: part(moment, nearest), isSubtracted } as const]
      : []),
    ...(moment > nearest
      ? [{ grain: 'hour', span: part(nearest, moment), isSubtracted: !isSubtracted } as const]
      : []),
  ];
}

/** Whether a day that begins then is over, and not too long ago. */
export const isKept = (day: number, now: Date): boolean =>
  day + DAY_MS <= now.getTime() && day >= firstDay(now).getTime();

/** The first day whose rests are kept. */
export const firstDay = (now: Date): Date =>
  new Date(Math.floor(now.getTime() / DAY_MS) * DAY_MS - DAYS_KEPT * DAY_MS);

/** The line of all accounts of a rest, while it is right. */
const RIGHT = Prisma.sql`
  whole.cut = 'account' AND whole.grain = 'rest' AND whole.user_id = ${NIL}
  AND (whole.requests, whole.failed) = (
    SELECT coalesce(sum(requests), 0), coalesce(sum(failed), 0) FROM usage_sums
    WHERE cut = 'model' AND grain = 'hour' AND since >= whole.since
      AND since < date_trunc('day', whole.since, 'UTC') + INTERVAL '24 hours'
  )`;

/** Whether all rests that begin at these moments are right. */
export const areRestsRight = (moments: readonly Date[]): Prisma.Sql => Prisma.sql`(
  SELECT count(*) = ${moments.length} FROM usage_sums whole
  WHERE whole.since IN (${Prisma.join(moments.map((moment) => Prisma.sql`${moment}::timestamptz`))}) AND ${RIGHT}
)`;

const momentsOf = (day: Prisma.Sql): Prisma.Sql => Prisma.sql`
  generate_series(${day} + INTERVAL '${STEP}', ${day} + INTERVAL '23 hours', INTERVAL '${STEP}')`;

/** The past days that have rests which are missing or wrong, the newest first. */
export const daysToMake = (now: Date): Prisma.Sql => Prisma.sql`
  ${LONG_QUERY}
  SELECT day FROM generate_series(
    ${firstDay(now)}::timestamptz, ${now}::timestamptz - INTERVAL '24 hours', INTERVAL '24 hours'
  ) AS day
  WHERE EXISTS (SELECT FROM usage_sums WHERE cut = 'model' AND grain = 'day' AND since = day)
    AND EXISTS (
      SELECT FROM ${momentsOf(Prisma.sql`day`)} AS moment
      WHERE NOT EXISTS (SELECT FROM usage_sums whole WHERE whole.since = moment AND ${RIGHT})
    )
  ORDER BY day DESC`;

/** Removes the rests of these days. */
export const removedRests = ({ since, until }: TimeSpan): Prisma.Sql => Prisma.sql`
  DELETE FROM usage_sums_account_rest
  WHERE cut = 'account' AND grain = 'rest' AND since >= ${since}::timestamptz AND since < ${until}::timestamptz`;

/** Adds the hours up to steps between two moments first, so that each hour is read once. */
const restsOf = ({ since, until }: TimeSpan): Prisma.Sql => Prisma.sql`
  SELECT moment AS since, ${ACCOUNT}, ${ADDED}
  FROM ${momentsOf(Prisma.sql`${since}::timestamptz`)} AS moment
  JOIN (
    SELECT date_bin(INTERVAL '${STEP}', since, '2000-01-01T00:00:00Z') AS step, ${ACCOUNT}, ${ADDED} FROM usage_sums
    WHERE cut = 'account' AND grain = 'hour' AND since >= ${since}::timestamptz AND since < ${until}::timestamptz
    GROUP BY step, ${ACCOUNT}
  ) AS part ON part.step >= moment
  GROUP BY moment, ${ACCOUNT}`;

/** Makes the rests of a day. One statement, so that the line of all accounts has exactly what the others have. */
export const madeRests = (day: TimeSpan): Prisma.Sql => Prisma.sql`
  ${LONG_QUERY}
  WITH line AS MATERIALIZED (${restsOf(day)})
  INSERT INTO usage_sums_account_rest (
    cut, grain, since, ${ACCOUNT}, model, upstream, ${SUMS}
  )
  SELECT 'account', 'rest', since, ${ACCOUNT}, '', '', ${SUMS} FROM line
  UNION ALL
  SELECT
    'account', 'rest', moment, ${NIL}, ${NIL}, ${NIL}, '', '', '',
    coalesce(sum(requests), 0), coalesce(sum(errors), 0), coalesce(sum(failed), 0), coalesce(sum(prompt_tokens), 0),
    coalesce(sum(completion_tokens), 0), coalesce(sum(cached_tokens), 0), coalesce(sum(total_tokens), 0),
    coalesce(sum(cost), 0), coalesce(sum(points), 0)
  FROM ${momentsOf(Prisma.sql`${day.since}::timestamptz`)} AS moment
  LEFT JOIN line ON line.since = moment
  GROUP BY moment`;

/** How many lines of rests that would be read differ from the lines of the hours. */
export const restComparison = (day: TimeSpan): Prisma.Sql => Prisma.sql`
  ${LONG_QUERY}
  WITH right_ones AS MATERIALIZED (
    SELECT since FROM usage_sums whole
    WHERE whole.since >= ${day.since}::timestamptz AND whole.since < ${day.until}::timestamptz AND ${RIGHT}
  ), expected AS (
    SELECT * FROM (${restsOf(day)}) AS line WHERE since IN (SELECT since FROM right_ones)
  ), kept AS (
    SELECT since, ${ACCOUNT}, ${SUMS} FROM usage_sums
    WHERE cut = 'account' AND grain = 'rest' AND user_id <> ${NIL} AND since IN (SELECT since FROM right_ones)
  )
  SELECT count(*)::int AS "wrongLines"
  FROM expected FULL JOIN kept USING (since, ${ACCOUNT})
  WHERE (expected.requests, expected.errors, expected.failed, expected.prompt_tokens, expected.completion_tokens,
      expected.cached_tokens, expected.total_tokens, expected.cost, expected.points)
    IS DISTINCT FROM (kept.requests, kept.errors, kept.failed, kept.prompt_tokens, kept.completion_tokens,
      kept.cached_tokens, kept.total_tokens, kept.cost, kept.points)`;
