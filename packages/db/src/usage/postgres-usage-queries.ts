import type {
  UsageFilter,
  UsageFound,
  UsageGroup,
  UsageQueries,
  UsageRecord,
  UsageSums,
  UsageWanted,
} from '@model-gateway/billing';
import type { Connection, Queries } from '../connection/connection.ts';
import { Prisma } from '../generated/client.ts';
import { USAGE_RECORD } from './usage-record-columns.ts';
import { rowsWithin, slicesOf } from '../sums/usage-slices.ts';

/** Sums over many rows, and pages far behind the newest ones, take long. */
const SNAPSHOT_MS_MAX = 120_000;

/** Sums over usage, and the rows behind them, in Postgres. */
export function createPostgresUsageQueries(connection: Connection): UsageQueries {
  return {
    find: (filter, { by, page }) =>
      page === undefined
        ? connection.run(async (queries) => ({
            ...(await sums(queries, filter, by)),
            records: undefined,
          }))
        : connection.transaction(
            async (queries) => ({
              ...(await sums(queries, filter, by)),
              records: await records(queries, filter, page),
            }),
            { isSnapshot: true, timeoutMs: SNAPSHOT_MS_MAX },
          ),
  };
}

type Sums = Pick<UsageFound, 'totals' | 'groups'>;

async function sums(queries: Queries, filter: UsageFilter, by: UsageWanted['by']): Promise<Sums> {
  if (by === undefined) {
    const rows = await queries.$queryRaw<SumsRow[]>`
      SELECT ${SUMS} FROM ${slicesOf(filter)}`;
    return { totals: sumsOf(rows[0] ?? NOTHING), groups: undefined };
  }
  // Keys are ordered by code point, independent of the collation of the database.
  const rows = await queries.$queryRaw<GroupRow[]>`
    SELECT bucket AS key, GROUPING(bucket) = 1 AS "isTotal", ${SUMS}
    FROM ${slicesOf(filter, by)}
    GROUP BY GROUPING SETS ((bucket), ())
    HAVING sum(requests) > 0
    ORDER BY sum(total_tokens) DESC, bucket COLLATE "C" ASC NULLS LAST`;
  const groups = rows.filter(({ isTotal }) => !isTotal);
  return {
    totals: sumsOf(rows.find(({ isTotal }) => isTotal) ?? NOTHING),
    groups: groups.map((row): UsageGroup => ({ key: row.key, ...sumsOf(row) })),
  };
}

const records = (
  queries: Queries,
  filter: UsageFilter,
  { limit, offset }: NonNullable<UsageWanted['page']>,
): Promise<UsageRecord[]> => queries.$queryRaw<UsageRecord[]>`
  SELECT ${USAGE_RECORD} FROM ${newestRows(filter, limit + offset)} AS row
  ORDER BY created_at DESC, id ASC
  LIMIT ${limit} OFFSET ${offset}`;

/**
 * At least `limit` of the newest rows. Each reference is queried separately, which uses an index; a query for several
 * would sort all rows.
 */
function newestRows(filter: UsageFilter, count: number): Prisma.Sql {
  const newest = (condition: Prisma.Sql) => Prisma.sql`(
    SELECT * FROM usage_records WHERE ${condition} AND ${rowsWithin(filter)}
    ORDER BY created_at DESC, id ASC
    LIMIT ${count}
  )`;
  if (filter.refIds.length === 0) return newest(Prisma.sql`true`);
  return Prisma.sql`(
    SELECT found.*
    FROM unnest(${[...filter.refIds]}::text[]) AS requested (ref)
    CROSS JOIN LATERAL ${newest(Prisma.sql`ref_id = requested.ref`)} AS found
  )`;
}

const SUMS = Prisma.sql`
  COALESCE(sum(requests), 0)::bigint AS "requests",
  COALESCE(sum(prompt_tokens), 0)::bigint AS "promptTokens",
  COALESCE(sum(completion_tokens), 0)::bigint AS "completionTokens",
  COALESCE(sum(total_tokens), 0)::bigint AS "totalTokens",
  COALESCE(sum(cost), 0)::float8 AS "costUsd"`;

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
