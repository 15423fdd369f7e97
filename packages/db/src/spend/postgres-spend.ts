import type {
  SpendFilter,
  SpendGroup,
  SpendGrouping,
  SpendQueries,
  SpendSums,
} from '@model-gateway/billing';
import type { Connection } from '../connection/connection.ts';
import { Prisma } from '../generated/client.ts';
import { withOwner } from '../usage/key-owner.ts';
import { dividesDays, spendSlices, type KeptSums } from './spend-slices.ts';
import { readSumsState } from './sums-state.ts';

/** Sums over usage by every dimension, in Postgres. */
export function createPostgresSpend(connection: Connection): SpendQueries {
  /** Once all rows are counted, they stay so. */
  let isComplete = false;

  async function sumsFor(filter: SpendFilter, by: SpendGrouping): Promise<KeptSums> {
    const now = new Date();
    if (isComplete && !dividesDays(filter, by))
      return { countedSince: null, failuresSince: null, now };
    const { countedSince, failuresSince } = await connection.run(readSumsState);
    isComplete = countedSince === null;
    return { countedSince, failuresSince, now };
  }

  return {
    async summary(filter, by) {
      const owned = await connection.run((queries) => withOwner(queries, filter));
      const slices = spendSlices(owned, by, await sumsFor(owned, by));
      // Keys are ordered by code point, independent of the collation of the database.
      const order =
        by === 'day' || by === 'hour'
          ? Prisma.empty
          : Prisma.sql`sum(cost) DESC, sum(requests) DESC,`;
      const rows = await connection.run(
        (queries) => queries.$queryRaw<GroupRow[]>`
          SELECT bucket AS key, GROUPING(bucket) = 1 AS "isTotal", ${SUMS}
          FROM ${slices}
          GROUP BY GROUPING SETS ((bucket), ())
          HAVING sum(requests) > 0 OR sum(errors) > 0
          ORDER BY ${order} bucket COLLATE "C" ASC NULLS LAST`,
      );
      return {
        total: sumsOf(rows.find(({ isTotal }) => isTotal) ?? NOTHING),
        groups: rows
          .filter(({ isTotal }) => !isTotal)
          .map((row): SpendGroup => ({ key: row.key, ...sumsOf(row) })),
      };
    },
  };
}

const SUMS = Prisma.sql`
  COALESCE(sum(requests), 0)::bigint AS "requests",
  COALESCE(sum(errors), 0)::bigint AS "errors",
  COALESCE(sum(failed), 0)::bigint AS "failed",
  COALESCE(sum(prompt_tokens), 0)::bigint AS "promptTokens",
  COALESCE(sum(completion_tokens), 0)::bigint AS "completionTokens",
  COALESCE(sum(cached_tokens), 0)::bigint AS "cachedTokens",
  COALESCE(sum(total_tokens), 0)::bigint AS "totalTokens",
  COALESCE(sum(cost), 0)::float8 AS "costUsd",
  COALESCE(sum(points), 0)::bigint AS "points"`;

type SumsRow = {
  readonly [Sum in Exclude<keyof SpendSums, 'costUsd'>]: bigint;
} & { readonly costUsd: number };

type GroupRow = SumsRow & { readonly key: string | null; readonly isTotal: boolean };

const NOTHING: SumsRow = {
  requests: 0n,
  errors: 0n,
  failed: 0n,
  promptTokens: 0n,
  completionTokens: 0n,
  cachedTokens: 0n,
  totalTokens: 0n,
  costUsd: 0,
  points: 0n,
};

const sumsOf = (row: SumsRow): SpendSums => ({
  requests: Number(row.requests),
  errors: Number(row.errors),
  failed: Number(row.failed),
  promptTokens: Number(row.promptTokens),
  completionTokens: Number(row.completionTokens),
  cachedTokens: Number(row.cachedTokens),
  totalTokens: Number(row.totalTokens),
  costUsd: row.costUsd,
  points: Number(row.points),
});
