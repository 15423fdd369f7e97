import {
  splitTime,
  type TimeRange,
  type TimeSpan,
  type UsageFilter,
  type UsageGrouping,
} from '@model-gateway/billing';
import { Prisma } from './generated/client.ts';

/** What a slice counts. */
export const COUNTS = Prisma.sql`requests, prompt_tokens, completion_tokens, total_tokens, cost`;

const LESS = Prisma.sql`-requests, -prompt_tokens, -completion_tokens, -total_tokens, -cost`;
const NO_REF = Prisma.sql`NULL::text AS ref_id`;
const NO_MODEL = Prisma.sql`NULL::text AS model, NULL::text AS backend`;
const DATE_CHARS = 'YYYY-MM-DD'.length;

/**
 * Everything that the filter lets through, most of it summed up already: whole days and hours come from what is kept of
 * them, what is left from the rows themselves. All say the same of the same moment, because a row and its sums change
 * together. Each slice has `day, model, backend, ref_id` as far as the grouping needs them, and the counts.
 */
export function slicesOf(filter: UsageFilter, by?: UsageGrouping): Prisma.Sql {
  const slices = filter.refIds.length > 0 ? slicesOfRefs(filter, by) : slicesOfAll(filter, by);
  if (slices.length > 0) return Prisma.join([...slices], ' UNION ALL ');
  return Prisma.sql`SELECT day, model, backend, ${NO_REF}, ${COUNTS} FROM usage_daily WHERE false`;
}

function slicesOfAll(range: TimeRange, by: UsageGrouping | undefined): readonly Prisma.Sql[] {
  const { days, edges, hours, rest } = splitTime(range);
  const ofDays = inDays(days, (within) => {
    const all = Prisma.sql`
      SELECT day, model, backend, ${NO_REF}, ${COUNTS} FROM usage_daily WHERE ${within}`;
    if (by !== 'ref') return [all];
    // What carries no reference is everything less what carries one.
    return [
      all,
      Prisma.sql`SELECT day, ${NO_MODEL}, ref_id, ${COUNTS} FROM usage_ref_days WHERE ${within}`,
      Prisma.sql`SELECT day, ${NO_MODEL}, ${NO_REF}, ${LESS} FROM usage_ref_days WHERE ${within}`,
    ];
  });
  if (by === 'ref') return [...ofDays, ...edges.map((edge) => rowSlice(edge, []))];
  return [...ofDays, ...hours.map(hourSlice), ...rest.map((span) => rowSlice(span, []))];
}

function slicesOfRefs(
  { refIds, ...range }: UsageFilter,
  by: UsageGrouping | undefined,
): readonly Prisma.Sql[] {
  const { days, edges } = splitTime(range);
  const isByModel = by === 'model' || by === 'backend';
  const ofDays = inDays(days, (within) => [
    isByModel
      ? Prisma.sql`
          SELECT day, model, backend, ref_id, ${COUNTS} FROM usage_daily_refs
          WHERE ${withOneOf(refIds)} AND ${within}`
      : Prisma.sql`
          SELECT day, ${NO_MODEL}, ref_id, ${COUNTS} FROM usage_ref_days
          WHERE ${withOneOf(refIds)} AND ${within}`,
  ]);
  return [...ofDays, ...edges.map((edge) => rowSlice(edge, refIds))];
}

function inDays(
  days: TimeRange | undefined,
  slices: (within: Prisma.Sql) => readonly Prisma.Sql[],
): readonly Prisma.Sql[] {
  if (days === undefined) return [];
  const { since, until } = days;
  const bounds = [
    since === undefined ? undefined : Prisma.sql`day >= ${dateOf(since)}::date`,
    until === undefined ? undefined : Prisma.sql`day < ${dateOf(until)}::date`,
  ];
  return slices(allOf(bounds));
}

const hourSlice = ({ since, until }: TimeSpan): Prisma.Sql => Prisma.sql`
  SELECT (hour AT TIME ZONE 'UTC')::date AS day, model, backend, ${NO_REF}, ${COUNTS} FROM usage_hourly
  WHERE hour >= ${since}::timestamptz AND hour < ${until}::timestamptz`;

const rowSlice = (span: TimeSpan, refIds: readonly string[]): Prisma.Sql => Prisma.sql`
  SELECT
    (created_at AT TIME ZONE 'UTC')::date AS day, model, backend, ref_id, 1 AS requests,
    prompt_tokens, completion_tokens, total_tokens, COALESCE(cost::numeric, 0) AS cost
  FROM usage_records
  WHERE ${rowsWithin(span)} AND ${withOneOf(refIds)}`;

/** The condition that rows lie in a range. */
export const rowsWithin = ({ since, until }: TimeRange): Prisma.Sql =>
  allOf([
    since === undefined ? undefined : Prisma.sql`created_at >= ${since}::timestamptz`,
    until === undefined ? undefined : Prisma.sql`created_at < ${until}::timestamptz`,
  ]);

function allOf(conditions: readonly (Prisma.Sql | undefined)[]): Prisma.Sql {
  const given = conditions.filter((condition) => condition !== undefined);
  return given.length === 0 ? Prisma.sql`true` : Prisma.join(given, ' AND ');
}

const withOneOf = (refIds: readonly string[]): Prisma.Sql =>
  refIds.length === 0 ? Prisma.sql`true` : Prisma.sql`ref_id = ANY(${[...refIds]}::text[])`;

const dateOf = (midnight: Date): string => midnight.toISOString().slice(0, DATE_CHARS);
