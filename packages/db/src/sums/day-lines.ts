import type { TimeSpan } from '@model-gateway/billing';
import { LONG_QUERY } from '../connection/long-queries.ts';
import type { Queries } from '../connection/connection.ts';
import { Prisma } from '../generated/client.ts';
import { parseUsd } from '../usage/exact-usd.ts';
import { lineKey, SUM_COLUMNS, type FoldedLine, type SumTable } from './sum-tables.ts';
import { noSums, type LineSums, type UsageLine } from './usage-lines.ts';

/** Lines by their keys. */
export type LinesByKey = ReadonlyMap<string, FoldedLine>;

type Counts = Record<(typeof SUM_COLUMNS)[number], string>;

const HOUR = Prisma.sql`to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:00:00"Z"')`;

/** What the rows of a day add up to, as finely as any table of sums tells them apart; with `hasFailures` also failed requests. */
export async function readDayLines(
  queries: Queries,
  { since, until }: TimeSpan,
  hasFailures: boolean,
): Promise<readonly UsageLine[]> {
  const within = Prisma.sql`created_at >= ${since}::timestamptz AND created_at < ${until}::timestamptz`;
  const rows = await queries.$queryRaw<RowLine[]>`
    ${LONG_QUERY}
    SELECT
      ${HOUR} AS hour, user_id::text AS "userId", key_id::text AS "keyId", group_id::text AS "groupId",
      coalesce(project, '') AS project, model, coalesce(upstream, '') AS upstream, backend AS surface, ref_id AS "refId",
      points IS NULL AS "isOfTier", count(*)::float8 AS requests,
      count(*) FILTER (WHERE status >= 400 AND status <> 499)::float8 AS errors,
      count(*) FILTER (WHERE status = 499)::float8 AS cancelled,
      sum(prompt_tokens)::float8 AS "promptTokens", sum(completion_tokens)::float8 AS "completionTokens",
      coalesce(sum(cached_tokens), 0)::float8 AS "cachedTokens", sum(total_tokens)::float8 AS "totalTokens",
      coalesce(sum(points), 0)::float8 AS points, coalesce(sum(cost::numeric), 0)::text AS usd
    FROM usage_records WHERE ${within}
    GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10`;
  const served = rows.map(({ usd, ...line }) => ({ ...noSums(), ...line, cost: parseUsd(usd) }));
  if (!hasFailures) return served;
  const failures = await queries.$queryRaw<FailureLine[]>`
    ${LONG_QUERY}
    SELECT
      ${HOUR} AS hour, user_id::text AS "userId", key_id::text AS "keyId", group_id::text AS "groupId",
      coalesce(project, '') AS project, counted_model AS model, coalesce(upstream, '') AS upstream, backend AS surface,
      sum(repeats)::float8 AS failed,
      coalesce(sum(repeats) FILTER (WHERE status = 499), 0)::float8 AS "failedCancelled"
    FROM request_failures WHERE ${within}
    GROUP BY 1, 2, 3, 4, 5, 6, 7, 8`;
  const failed = failures.map((line) => ({ ...noSums(), refId: null, isOfTier: false, ...line }));
  return [...served, ...failed];
}

type RowLine = Omit<UsageLine, 'cost' | 'failed' | 'failedCancelled'> & { readonly usd: string };
type FailureLine = Omit<UsageLine, keyof LineSums | 'refId' | 'isOfTier'> &
  Pick<LineSums, 'failed' | 'failedCancelled'>;

/** The lines that a table has of a day. */
export async function readKeptLines(
  queries: Queries,
  { name, dimensions }: SumTable,
  { since, until }: TimeSpan,
): Promise<LinesByKey> {
  const values = dimensions.map((dimension) => `${dimension}::text`).join(', ');
  const sums = SUM_COLUMNS.map((column) => `${column}::text`).join(', ');
  const rows = await queries.$queryRaw<({ at: string; keys: string[] } & Counts)[]>`
    ${LONG_QUERY}
    SELECT
      to_char(since AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:00:00"Z"') AS at,
      ARRAY[${Prisma.raw(values)}] AS keys, ${Prisma.raw(sums)}
    FROM ${Prisma.raw(name)} WHERE since >= ${since}::timestamptz AND since < ${until}::timestamptz`;
  return new Map(
    rows.map(({ at, keys, ...counts }) => [lineKey(at, keys), keptLine(at, keys, counts)]),
  );
}

const keptLine = (since: string, values: readonly string[], counts: Counts): FoldedLine => ({
  since,
  values,
  requests: Number(counts['requests']),
  errors: Number(counts['errors']),
  cancelled: Number(counts['cancelled']),
  failed: Number(counts['failed']),
  failedCancelled: Number(counts['failed_cancelled']),
  promptTokens: Number(counts['prompt_tokens']),
  completionTokens: Number(counts['completion_tokens']),
  cachedTokens: Number(counts['cached_tokens']),
  totalTokens: Number(counts['total_tokens']),
  points: Number(counts['points']),
  cost: parseUsd(counts['cost'] ?? ''),
});
