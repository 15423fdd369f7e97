import {
  splitByDay,
  type TimeRange,
  type TimeSpan,
  type UsageFilter,
  type UsageGroup,
  type UsageGrouping,
  type UsageQueries,
  type UsageRecord,
  type UsageSums,
} from '@model-gateway/billing';
import type { Connection } from './connection.ts';
import { Prisma } from './generated/client.ts';

const DATE_CHARS = 'YYYY-MM-DD'.length;

/**
 * Sums over usage. Whole days come from what is kept by day, parts of days from the rows themselves, in one statement:
 * both say the same of the same moment, because a row and its day change together.
 */
export function createPostgresUsageQueries(connection: Connection): UsageQueries {
  return {
    totals: (filter) =>
      connection.run(async (queries) => {
        const rows = await queries.$queryRaw<SumsRow[]>`
          SELECT ${SUMS} FROM (${slicesOf(filter)}) slice`;
        return sumsOf(rows[0] ?? NOTHING);
      }),

    groups: (filter, by) =>
      connection.run(async (queries) => {
        // Keys are ordered by code point, whatever the language of the database.
        const rows = await queries.$queryRaw<GroupRow[]>`
          SELECT key, GROUPING(key) = 1 AS "isTotal", ${SUMS}
          FROM (SELECT ${KEYS[by]} AS key, ${COUNTS} FROM (${slicesOf(filter, by)}) slice) keyed
          GROUP BY GROUPING SETS ((key), ())
          HAVING sum(requests) > 0
          ORDER BY sum(total_tokens) DESC, key COLLATE "C" ASC NULLS LAST`;
        const groups = rows.filter(({ isTotal }) => !isTotal);
        return {
          totals: sumsOf(rows.find(({ isTotal }) => isTotal) ?? NOTHING),
          groups: groups.map((row): UsageGroup => ({ key: row.key, ...sumsOf(row) })),
        };
      }),

    records: (filter, { limit, offset }) =>
      connection.run(async (queries) => {
        const rows = await queries.$queryRaw<UsageRecord[]>`
          SELECT ${RECORD} FROM usage_records
          WHERE ${rowsWithin(filter)} AND ${withOneOf(filter.refIds)}
          ORDER BY created_at DESC, id ASC
          LIMIT ${limit} OFFSET ${offset}`;
        return rows;
      }),
  };
}

const SUMS = Prisma.sql`
  COALESCE(sum(requests), 0)::bigint AS "requests",
  COALESCE(sum(prompt_tokens), 0)::bigint AS "promptTokens",
  COALESCE(sum(completion_tokens), 0)::bigint AS "completionTokens",
  COALESCE(sum(total_tokens), 0)::bigint AS "totalTokens",
  COALESCE(sum(cost), 0)::float8 AS "costUsd"`;

const RECORD = Prisma.sql`
  id, api_key_id AS "apiKeyId", key_id AS "keyId", user_id AS "userId", project, model, backend,
  prompt_tokens AS "promptTokens", completion_tokens AS "completionTokens", total_tokens AS "totalTokens",
  cost, points, account_type AS "accountType", ref_id AS "refId", created_at AS "createdAt"`;

const KEYS = {
  model: Prisma.sql`model::text`,
  backend: Prisma.sql`backend::text`,
  ref: Prisma.sql`ref_id::text`,
  day: Prisma.sql`to_char(day, 'YYYY-MM-DD')`,
} satisfies Record<UsageGrouping, Prisma.Sql>;

const COUNTS = Prisma.sql`requests, prompt_tokens, completion_tokens, total_tokens, cost`;
const LESS = Prisma.sql`-requests, -prompt_tokens, -completion_tokens, -total_tokens, -cost`;
const NO_REF = Prisma.sql`NULL::text AS ref_id`;

/** Everything that the filter lets through, some of it summed up already. */
function slicesOf({ refIds, since, until }: UsageFilter, by?: UsageGrouping): Prisma.Sql {
  const { days, edges } = splitByDay({ since, until });
  const slices = [
    ...(days === undefined ? [] : daySlices(days, refIds, by)),
    ...edges.map((edge) => rowSlice(edge, refIds)),
  ];
  if (slices.length > 0) return Prisma.join(slices, ' UNION ALL ');
  return Prisma.sql`SELECT day, model, backend, ${NO_REF}, ${COUNTS} FROM usage_daily WHERE false`;
}

function daySlices(
  days: TimeRange,
  refIds: readonly string[],
  by: UsageGrouping | undefined,
): readonly Prisma.Sql[] {
  const withRefs = (counts: Prisma.Sql, ref: Prisma.Sql) => Prisma.sql`
    SELECT day, model, backend, ${ref}, ${counts} FROM usage_daily_refs
    WHERE ${daysWithin(days)} AND ${withOneOf(refIds)}`;
  const all = Prisma.sql`
    SELECT day, model, backend, ${NO_REF}, ${COUNTS} FROM usage_daily WHERE ${daysWithin(days)}`;
  const refs = withRefs(COUNTS, Prisma.sql`ref_id`);
  if (refIds.length > 0) return [refs];
  // What carries no reference is everything less what carries one.
  return by === 'ref' ? [refs, all, withRefs(LESS, NO_REF)] : [all];
}

const rowSlice = (span: TimeSpan, refIds: readonly string[]): Prisma.Sql => Prisma.sql`
  SELECT
    (created_at AT TIME ZONE 'UTC')::date AS day, model, backend, ref_id, 1 AS requests,
    prompt_tokens, completion_tokens, total_tokens, COALESCE(cost::numeric, 0) AS cost
  FROM usage_records
  WHERE ${rowsWithin(span)} AND ${withOneOf(refIds)}`;

const daysWithin = ({ since, until }: TimeRange): Prisma.Sql =>
  allOf([
    since === undefined ? undefined : Prisma.sql`day >= ${dateOf(since)}::date`,
    until === undefined ? undefined : Prisma.sql`day < ${dateOf(until)}::date`,
  ]);

const rowsWithin = ({ since, until }: TimeRange): Prisma.Sql =>
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

interface SumsRow {
  readonly requests: bigint;
  readonly promptTokens: bigint;
  readonly completionTokens: bigint;
  readonly totalTokens: bigint;
  readonly costUsd: number;
}

interface GroupRow extends SumsRow {
  readonly key: string | null;
  readonly isTotal: boolean;
}

const NOTHING: SumsRow = {
  requests: 0n,
  promptTokens: 0n,
  completionTokens: 0n,
  totalTokens: 0n,
  costUsd: 0,
};

const sumsOf = (row: SumsRow): UsageSums => ({
  requests: Number(row.requests),
  promptTokens: Number(row.promptTokens),
  completionTokens: Number(row.completionTokens),
  totalTokens: Number(row.totalTokens),
  costUsd: row.costUsd,
});
