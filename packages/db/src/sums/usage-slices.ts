import {
  splitTime,
  type TimeRange,
  type TimeSpan,
  type UsageFilter,
  type UsageGrouping,
} from '@model-gateway/billing';
import { Prisma } from '../generated/client.ts';

// Daily sums are exact decimals. Single rows are added as floats, which is much faster; the rounding error is far below
// this many digits of a dollar.
const USD_DIGITS = 12;
const DATE_CHARS = 'YYYY-MM-DD'.length;

const ADDED = Prisma.sql`
  sum(requests), sum(prompt_tokens), sum(completion_tokens), sum(total_tokens), sum(cost)`;
/** Of each reference, and, to be taken from the total, of all of them. */
const ADDED_OR_TAKEN = Prisma.join(
  ['requests', 'prompt_tokens', 'completion_tokens', 'total_tokens', 'cost'].map(
    (sum) =>
      Prisma.sql`CASE WHEN GROUPING(ref_id) = 1 THEN -sum(${Prisma.raw(sum)}) ELSE sum(${Prisma.raw(sum)}) END`,
  ),
);
const ADDED_ROWS = Prisma.sql`
  count(*), sum(prompt_tokens), sum(completion_tokens), sum(total_tokens),
  round(COALESCE(sum(cost), 0)::numeric, ${USD_DIGITS}::int)`;

const FIRST_COLUMN = Prisma.sql`1`;
const NO_BUCKET = Prisma.sql`NULL::text`;
const BY_MODEL = Prisma.sql`model::text`;
const BY_BACKEND = Prisma.sql`backend::text`;
/** The kept sums name it so. */
const BY_SURFACE = Prisma.sql`surface::text`;
const BY_REF = Prisma.sql`ref_id::text`;

/**
 * The sums of all rows that match the filter, by bucket, each in one or more slices: whole days and hours come from the
 * stored sums, the rest from the rows. Rows and sums change in one transaction, so they agree. Without a grouping there
 * is one bucket, null.
 */
export function slicesOf(filter: UsageFilter, by?: UsageGrouping): Prisma.Sql {
  const slices = filter.refIds.length > 0 ? slicesOfRefs(filter, by) : slicesOfAll(filter, by);
  const nothing = Prisma.sql`SELECT ${NO_BUCKET}, ${ADDED} FROM usage_by_model_day WHERE false GROUP BY 1`;
  return Prisma.sql`(${Prisma.join(slices.length > 0 ? [...slices] : [nothing], ' UNION ALL ')})
    AS slice (bucket, requests, prompt_tokens, completion_tokens, total_tokens, cost)`;
}

function slicesOfAll(range: TimeRange, by: UsageGrouping | undefined): readonly Prisma.Sql[] {
  const { days, edges, hours, rest } = splitTime(range);
  if (by === 'ref') return [...daysByRef(days), ...edges.map((edge) => rowSlice(edge, [], by))];
  return [
    ...inDays(days, (within) => [daySlice(Prisma.sql`usage_by_model_day`, within, by)]),
    ...hours.map((span) => hourSlice(span, by)),
    ...rest.map((span) => rowSlice(span, [], by)),
  ];
}

/** Usage without a reference is the total minus the usage with one. */
const daysByRef = (days: TimeRange | undefined): readonly Prisma.Sql[] =>
  inDays(days, (within) => [
    Prisma.sql`SELECT ${NO_BUCKET}, ${ADDED} FROM usage_by_model_day WHERE ${within} GROUP BY 1`,
    Prisma.sql`
      SELECT ${BY_REF}, ${ADDED_OR_TAKEN} FROM usage_by_ref_day WHERE ${within}
      GROUP BY GROUPING SETS ((ref_id), ())`,
  ]);

function slicesOfRefs(
  { refIds, ...range }: UsageFilter,
  by: UsageGrouping | undefined,
): readonly Prisma.Sql[] {
  const { days, edges } = splitTime(range);
  return [
    ...inDays(days, (within) => [
      daySlice(Prisma.sql`usage_by_ref_day`, Prisma.sql`${withOneOf(refIds)} AND ${within}`, by),
    ]),
    ...edges.map((edge) => rowSlice(edge, refIds, by)),
  ];
}

/** Dates are formatted after summing. */
const daySlice = (
  table: Prisma.Sql,
  condition: Prisma.Sql,
  by: UsageGrouping | undefined,
): Prisma.Sql => {
  const since = Prisma.sql`since`;
  const key = bucketOf(by, Prisma.sql`since AT TIME ZONE 'UTC'`, BY_SURFACE);
  return Prisma.sql`
    SELECT ${key}, ${ADDED} FROM ${table}
    WHERE ${condition} GROUP BY ${by === 'day' ? since : FIRST_COLUMN}`;
};

const hourSlice = (span: TimeSpan, by: UsageGrouping | undefined): Prisma.Sql => Prisma.sql`
  SELECT ${bucketOf(by, dayOf(span), BY_SURFACE)}, ${ADDED} FROM usage_by_model_hour
  WHERE since >= ${span.since}::timestamptz AND since < ${span.until}::timestamptz GROUP BY 1`;

const rowSlice = (
  span: TimeSpan,
  refIds: readonly string[],
  by: UsageGrouping | undefined,
): Prisma.Sql => Prisma.sql`
  SELECT ${bucketOf(by, dayOf(span), BY_BACKEND)}, ${ADDED_ROWS} FROM usage_records
  WHERE ${rowsWithin(span)} AND ${withOneOf(refIds)} GROUP BY 1`;

function bucketOf(by: UsageGrouping | undefined, day: Prisma.Sql, backend: Prisma.Sql): Prisma.Sql {
  switch (by) {
    case undefined:
      return NO_BUCKET;
    case 'model':
      return BY_MODEL;
    case 'backend':
      return backend;
    case 'ref':
      return BY_REF;
    case 'day':
      return Prisma.sql`to_char(${day}, 'YYYY-MM-DD')`;
  }
}

/** A part of a day belongs to one day. */
const dayOf = ({ since }: TimeSpan): Prisma.Sql => Prisma.sql`${dateOf(since)}::date`;

function inDays(
  days: TimeRange | undefined,
  slices: (within: Prisma.Sql) => readonly Prisma.Sql[],
): readonly Prisma.Sql[] {
  if (days === undefined) return [];
  const { since, until } = days;
  const bounds = [
    since === undefined ? undefined : Prisma.sql`since >= ${since}::timestamptz`,
    until === undefined ? undefined : Prisma.sql`since < ${until}::timestamptz`,
  ];
  return slices(allOf(bounds));
}

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

const dateOf = (moment: Date): string => moment.toISOString().slice(0, DATE_CHARS);
