import type { SpendGroup, SpendQueries, SpendSums } from '@model-gateway/billing';
import type { Connection } from '../connection/connection.ts';
import { Prisma } from '../generated/client.ts';
import { withOwner } from '../usage/key-owner.ts';
import { shownKey } from './slice-sql.ts';
import { spendSlices } from './spend-slices.ts';

/** Sums over usage by every dimension, in Postgres. */
export function createPostgresSpend(connection: Connection): SpendQueries {
  return {
    async summary(filter, by) {
      const owned = await connection.run((queries) => withOwner(queries, filter));
      const lines = spendSlices(owned, by, new Date());
      const shown = shownKey(by);
      // Keys are ordered by code point, independent of the collation of the database.
      const order =
        by === 'day' || by === 'hour'
          ? Prisma.sql`line.key`
          : Prisma.sql`sum(cost) DESC, sum(requests) DESC, ${shown} COLLATE "C" ASC NULLS LAST`;
      const rows = await connection.run(
        (queries) => queries.$queryRaw<GroupRow[]>`
          SELECT ${shown} AS key, ${SUMS} FROM ${lines}
          GROUP BY line.key
          HAVING sum(requests) > 0 OR sum(failed) > 0
          ORDER BY ${order}`,
      );
      return {
        total: totalOf(rows),
        groups: rows.map((row): SpendGroup => ({ key: row.key, ...sumsOf(row) })),
      };
    },

    async names(of, ids) {
      const rows = await connection.run(
        (queries) => queries.$queryRaw<{ readonly id: string; readonly name: string }[]>`
          SELECT id, ${NAMES[of].column} AS name FROM ${NAMES[of].table} WHERE id = ANY (${ids}::uuid[])`,
      );
      return new Map(rows.map(({ id, name }) => [id, name]));
    },
  };
}

const NAMES = {
  user: { table: Prisma.sql`users`, column: Prisma.sql`email` },
  key: { table: Prisma.sql`api_keys`, column: Prisma.sql`name` },
  group: { table: Prisma.sql`groups`, column: Prisma.sql`name` },
} as const;

const SUMS = Prisma.sql`
  sum(requests)::bigint AS "requests",
  sum(errors)::bigint AS "errors",
  sum(failed)::bigint AS "failed",
  sum(cancelled)::bigint AS "cancelled",
  sum(prompt_tokens)::bigint AS "promptTokens",
  sum(completion_tokens)::bigint AS "completionTokens",
  sum(cached_tokens)::bigint AS "cachedTokens",
  sum(total_tokens)::bigint AS "totalTokens",
  sum(cost)::float8 AS "costUsd",
  (sum(sum(cost)) OVER ())::float8 AS "costOfAll",
  sum(points)::bigint AS "points"`;

type Count = Exclude<keyof SpendSums, 'costUsd'>;

type GroupRow = { readonly [Each in Count]: bigint } & {
  readonly key: string | null;
  readonly costUsd: number;
  /** Of all groups, added up as exact decimals. */
  readonly costOfAll: number;
};

/** One sum for each count, and the cost. */
const sumsWith = (costUsd: number, countOf: (count: Count) => bigint): SpendSums => ({
  requests: Number(countOf('requests')),
  errors: Number(countOf('errors')),
  failed: Number(countOf('failed')),
  cancelled: Number(countOf('cancelled')),
  promptTokens: Number(countOf('promptTokens')),
  completionTokens: Number(countOf('completionTokens')),
  cachedTokens: Number(countOf('cachedTokens')),
  totalTokens: Number(countOf('totalTokens')),
  costUsd,
  points: Number(countOf('points')),
});

const sumsOf = (row: GroupRow): SpendSums => sumsWith(row.costUsd, (count) => row[count]);

const totalOf = (rows: readonly GroupRow[]): SpendSums =>
  sumsWith(rows[0]?.costOfAll ?? 0, (count) => rows.reduce((sum, row) => sum + row[count], 0n));
