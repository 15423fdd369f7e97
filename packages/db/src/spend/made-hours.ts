import type { TimeSpan } from '@model-gateway/billing';
import { LONG_QUERY } from '../connection/long-queries.ts';
import { Prisma } from '../generated/client.ts';

const SUMS = Prisma.sql`
  requests, errors, failed, prompt_tokens, completion_tokens, cached_tokens, total_tokens, cost, points`;

/** The sums of lines or rows that are added up. */
export const ADDED_SUMS = Prisma.sql`
  sum(requests)::bigint AS requests, sum(errors)::bigint AS errors, sum(failed)::bigint AS failed,
  sum(prompt_tokens)::bigint AS prompt_tokens, sum(completion_tokens)::bigint AS completion_tokens,
  sum(cached_tokens)::bigint AS cached_tokens, sum(total_tokens)::bigint AS total_tokens,
  sum(cost) AS cost, sum(points)::bigint AS points`;

/**
 * Kept lines by the hour that are made after a day, of users or groups that have many requests or lines. The lines of an owner
 * are right as long as their requests equal those of the lines that recording keeps: then no row was counted since.
 */
export interface MadeHours {
  readonly cut: string;
  readonly table: Prisma.Sql;
  /** The column of the user or group. */
  readonly owner: Prisma.Sql;
  /** The columns that differ between lines. */
  readonly keys: Prisma.Sql;
  /** The columns with the same value in all lines, and their values. */
  readonly same?: { readonly columns: Prisma.Sql; readonly values: Prisma.Sql };
  /** The cut of the lines that recording keeps, to compare with. */
  readonly keptCut: string;
  /** Selects the owners that have many on a day. */
  large(day: TimeSpan): Prisma.Sql;
  /** Selects what the lines of a day should be, for these owners. */
  lines(day: TimeSpan, owners: Prisma.Sql): Prisma.Sql;
}

export const startsWithin = ({ since, until }: TimeSpan): Prisma.Sql =>
  Prisma.sql`since >= ${since}::timestamptz AND since < ${until}::timestamptz`;

/** Whether the lines of a user or group have all rows of these hours. Where neither has any, this is true as well. */
export const areHoursRight = (
  { cut, keptCut, owner }: MadeHours,
  hours: TimeSpan,
  ownerId: string,
): Prisma.Sql => {
  const counted = (each: string): Prisma.Sql => Prisma.sql`(
    SELECT ROW(coalesce(sum(requests), 0), coalesce(sum(failed), 0)) FROM usage_sums
    WHERE cut = ${each} AND grain = 'hour' AND ${owner} = ${ownerId}::uuid AND ${startsWithin(hours)}
  )`;
  return Prisma.sql`${counted(cut)} = ${counted(keptCut)}`;
};

/** Makes the lines of a day. */
export const madeHours = (made: MadeHours, day: TimeSpan): Prisma.Sql => {
  const { cut, table, keys, same } = made;
  const columns = same === undefined ? Prisma.empty : Prisma.sql`${same.columns},`;
  const values = same === undefined ? Prisma.empty : Prisma.sql`${same.values},`;
  return Prisma.sql`
    ${LONG_QUERY}
    INSERT INTO ${table} (cut, grain, ${keys}, ${columns} ${SUMS})
    SELECT ${cut}, 'hour', ${keys}, ${values} ${SUMS} FROM (${made.lines(day, made.large(day))}) AS line`;
};

/** Removes the lines of these days. */
export const removedHours = ({ cut, table }: MadeHours, days: TimeSpan): Prisma.Sql =>
  Prisma.sql`DELETE FROM ${table} WHERE cut = ${cut} AND grain = 'hour' AND ${startsWithin(days)}`;

/** How many lines that would be read differ from what they should be. */
export const hoursComparison = (made: MadeHours, day: TimeSpan): Prisma.Sql => {
  const { cut, owner, keys, keptCut } = made;
  const counted = (each: string): Prisma.Sql => Prisma.sql`
    SELECT ${owner}, sum(requests) AS requests, sum(failed) AS failed FROM usage_sums
    WHERE cut = ${each} AND grain = 'hour' AND ${startsWithin(day)} GROUP BY ${owner}`;
  const rightOnes = Prisma.sql`SELECT ${owner} FROM right_ones`;
  return Prisma.sql`
    ${LONG_QUERY}
    WITH right_ones AS MATERIALIZED (
      SELECT ${owner} FROM (${counted(cut)}) AS made
      JOIN (${counted(keptCut)}) AS recorded USING (${owner}, requests, failed)
    ), expected AS (${made.lines(day, rightOnes)}), kept AS (
      SELECT ${keys}, ${SUMS} FROM usage_sums
      WHERE cut = ${cut} AND grain = 'hour' AND ${startsWithin(day)} AND ${owner} IN (${rightOnes})
    )
    SELECT count(*)::int AS "wrongLines"
    FROM expected FULL JOIN kept USING (${keys})
    WHERE (expected.requests, expected.errors, expected.failed, expected.prompt_tokens, expected.completion_tokens,
        expected.cached_tokens, expected.total_tokens, expected.cost, expected.points)
      IS DISTINCT FROM (kept.requests, kept.errors, kept.failed, kept.prompt_tokens, kept.completion_tokens,
        kept.cached_tokens, kept.total_tokens, kept.cost, kept.points)`;
};
