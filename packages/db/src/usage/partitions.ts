import type { RawQueries } from '../connection/connection.ts';

const MONTH_CHARS = 'YYYY-MM'.length;
const MONTHS_AHEAD = 2;

/**
 * Makes the partitions of rows and sums that are missing for these times and for the next months. Call it under the settlement lock,
 * before anything else is written.
 */
export async function ensurePartitions(
  queries: RawQueries,
  times: readonly string[],
): Promise<void> {
  const months = new Set(times.map((time) => `${time.slice(0, MONTH_CHARS)}-01`));
  await queries.$executeRaw`
    SELECT usage_ensure_partitions(month) FROM (
      SELECT unnest(${[...months]}::date[])
      UNION
      SELECT (date_trunc('month', now() AT TIME ZONE 'UTC') + ahead * INTERVAL '1 month')::date
      FROM generate_series(1, ${MONTHS_AHEAD}::int) AS ahead
    ) AS needed (month)`;
}
