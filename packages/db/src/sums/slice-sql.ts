import type { SpendFilter, SpendGrouping, TimeSpan } from '@model-gateway/billing';
import { Prisma } from '../generated/client.ts';
import { NIL_UUID } from '../connection/nil-uuid.ts';
import { tableOf, type Cut, type DimensionColumn, type Grain } from './sum-tables.ts';

/**
 * A constant in the statement and no parameter: Postgres does not recognize two expressions with parameters as the same when it
 * groups by them.
 */
const NIL = Prisma.raw(`'${NIL_UUID}'::uuid`);

type Dimension = 'userId' | 'keyId' | 'groupId' | 'project' | 'model' | 'upstream';

export const COLUMNS = {
  userId: 'user_id',
  keyId: 'key_id',
  groupId: 'group_id',
  project: 'project',
  model: 'model',
  upstream: 'upstream',
} as const satisfies Record<Dimension, DimensionColumn>;

const columnOf = (dimension: Dimension): Prisma.Sql => Prisma.raw(COLUMNS[dimension]);

const UUIDS: readonly Dimension[] = ['userId', 'keyId', 'groupId'];
export const DIMENSIONS = Object.keys(COLUMNS) as readonly Dimension[];

export const GROUPED: Record<SpendGrouping, Dimension | undefined> = {
  day: undefined,
  hour: undefined,
  model: 'model',
  upstream: 'upstream',
  key: 'keyId',
  project: 'project',
  group: 'groupId',
  user: 'userId',
};

/** The columns of a slice, one line for each kept line or row: what it is grouped by, and what is added up. */
export const SLICE_COLUMNS = Prisma.sql`
  (key, requests, errors, failed, cancelled, prompt_tokens, completion_tokens, cached_tokens, total_tokens, cost, points)`;

const KEPT: readonly Prisma.Sql[] = [
  Prisma.sql`requests`,
  Prisma.sql`errors + failed - failed_cancelled`,
  Prisma.sql`failed`,
  Prisma.sql`cancelled`,
  Prisma.sql`prompt_tokens`,
  Prisma.sql`completion_tokens`,
  Prisma.sql`cached_tokens`,
  Prisma.sql`total_tokens`,
  Prisma.sql`cost`,
  Prisma.sql`points`,
];
const OF_ROW: readonly Prisma.Sql[] = [
  Prisma.sql`1::bigint`,
  Prisma.sql`(status >= 400 AND status <> 499 IS TRUE)::int::bigint`,
  Prisma.sql`0::bigint`,
  Prisma.sql`(status = 499 IS TRUE)::int::bigint`,
  Prisma.sql`prompt_tokens::bigint`,
  Prisma.sql`completion_tokens::bigint`,
  Prisma.sql`coalesce(cached_tokens, 0)::bigint`,
  Prisma.sql`total_tokens::bigint`,
  Prisma.sql`coalesce(cost::numeric, 0)`,
  Prisma.sql`coalesce(points, 0)::bigint`,
];
const NONE = Prisma.sql`0::bigint`;
const OF_FAILURE: readonly Prisma.Sql[] = [
  NONE,
  Prisma.sql`CASE WHEN status = 499 THEN 0 ELSE repeats END::bigint`,
  Prisma.sql`repeats::bigint`,
  NONE,
  NONE,
  NONE,
  NONE,
  NONE,
  Prisma.sql`0::numeric`,
  NONE,
];

/** Kept lines of a table that begin within a span. */
export function keptSlice(
  { cut, grain }: { readonly cut: Cut; readonly grain: Grain },
  { since, until }: TimeSpan,
  filter: SpendFilter,
  by: SpendGrouping,
): Prisma.Sql {
  return Prisma.sql`
    SELECT ${keyOf(by, Prisma.sql`since`, grain)}, ${Prisma.join(KEPT)}
    FROM ${Prisma.raw(tableOf(cut, grain))}
    WHERE since >= ${since}::timestamptz AND since < ${until}::timestamptz ${matching(filter)}`;
}

/** The rows of a span, and the failed requests that have none. */
export function rowSlices(
  { since, until }: TimeSpan,
  filter: SpendFilter,
  by: SpendGrouping,
): readonly Prisma.Sql[] {
  const key = keyOf(by, Prisma.sql`created_at`);
  const condition = Prisma.sql`
    created_at >= ${since}::timestamptz AND created_at < ${until}::timestamptz ${matching(filter, HIDDEN)}`;
  return [
    Prisma.sql`SELECT ${key}, ${Prisma.join(OF_ROW)} FROM usage_records WHERE ${condition}`,
    Prisma.sql`
      SELECT ${key}, ${Prisma.join(OF_FAILURE)} FROM (
        SELECT created_at, user_id, key_id, group_id, project, counted_model AS model, upstream, status, repeats
        FROM request_failures
      ) AS failure
      WHERE ${condition}`,
  ];
}

/** A slice without lines. */
export const emptySlice = (by: SpendGrouping): Prisma.Sql =>
  Prisma.sql`SELECT ${keyOf(by, Prisma.sql`since`)}, ${Prisma.join(KEPT)} FROM usage_by_all_day WHERE false`;

/**
 * What a line is grouped by. Kept lines begin with their day or hour. Of other times `date_bin` finds it with a division, where
 * `date_trunc` works with the calendar.
 */
function keyOf(by: SpendGrouping, time: Prisma.Sql, grain?: Grain): Prisma.Sql {
  const dimension = GROUPED[by];
  if (dimension !== undefined)
    return grain === undefined
      ? Prisma.sql`coalesce(${columnOf(dimension)}, ${nothingOf(dimension)})`
      : columnOf(dimension);
  if (by === grain) return time;
  const unit = by === 'day' ? Prisma.sql`'1 day'` : Prisma.sql`'1 hour'`;
  return Prisma.sql`date_bin(${unit}, ${time}, '2000-01-01T00:00:00Z')`;
}

/** How the answer shows what is grouped by. */
export function shownKey(by: SpendGrouping): Prisma.Sql {
  const dimension = GROUPED[by];
  if (dimension !== undefined) return Prisma.sql`NULLIF(line.key, ${nothingOf(dimension)})::text`;
  const form = by === 'day' ? Prisma.sql`'YYYY-MM-DD'` : Prisma.sql`'YYYY-MM-DD"T"HH24:00:00"Z"'`;
  return Prisma.sql`to_char(line.key AT TIME ZONE 'UTC', ${form})`;
}

const nothingOf = (dimension: Dimension): Prisma.Sql =>
  UUIDS.includes(dimension) ? NIL : Prisma.sql`''`;

/**
 * Dimensions whose value the planner does not see. For a user with many rows it would take the index of time, which has the rows of
 * all users; for any user it takes the index of users.
 */
const HIDDEN: readonly Dimension[] = ['userId'];

function matching(filter: SpendFilter, hidden: readonly Dimension[] = []): Prisma.Sql {
  const conditions = DIMENSIONS.flatMap((dimension) => {
    const value = filter[dimension];
    if (value === undefined) return [];
    const given = UUIDS.includes(dimension) ? Prisma.sql`${value}::uuid` : Prisma.sql`${value}`;
    const wanted = hidden.includes(dimension) ? Prisma.sql`(SELECT ${given})` : given;
    return [Prisma.sql` AND ${columnOf(dimension)} = ${wanted}`];
  });
  return conditions.length === 0 ? Prisma.empty : Prisma.join(conditions, ' ');
}
