import { arrayText } from '../connection/array-text.ts';
import type { RawQueries } from '../connection/connection.ts';
import { usdText } from '../usage/exact-usd.ts';
import { addFolded, foldLines, SUM_TABLES } from './sum-tables.ts';
import type { UsageLine } from './usage-lines.ts';

/** Adds lines to all kept sums. */
export async function countLines(queries: RawQueries, lines: readonly UsageLine[]): Promise<void> {
  for (const table of SUM_TABLES) await addFolded(queries, table, foldLines(lines, table));
}

/**
 * Adds served requests to what quotas are checked against.
 *
 * The time of a change moves on only after twenty seconds: an update that changes no indexed column costs a part of one that does.
 * Who reads what changed looks back further than that.
 */
export async function countQuotas(queries: RawQueries, lines: readonly UsageLine[]): Promise<void> {
  const column = (pick: (line: UsageLine) => string | number | boolean): string =>
    arrayText(lines.map(pick));
  await queries.$executeRaw`
    INSERT INTO quota_usage AS used (user_id, month, requests, tier_cost, tier_tokens, updated_at)
    SELECT
      user_id, date_trunc('month', hour AT TIME ZONE 'UTC')::date, sum(requests),
      coalesce(sum(cost) FILTER (WHERE is_of_tier), 0),
      coalesce(sum(total_tokens) FILTER (WHERE is_of_tier), 0), clock_timestamp()
    FROM unnest(
      ${column(({ hour }) => hour)}::timestamptz[],
      ${column(({ userId }) => userId)}::uuid[],
      ${column(({ isOfTier }) => isOfTier)}::boolean[],
      ${column(({ requests }) => requests)}::bigint[],
      ${column(({ totalTokens }) => totalTokens)}::bigint[],
      ${column(({ cost }) => usdText(cost))}::numeric[]
    ) AS line (hour, user_id, is_of_tier, requests, total_tokens, cost)
    GROUP BY 1, 2
    ORDER BY 1, 2
    ON CONFLICT (user_id, month) DO UPDATE SET
      requests = used.requests + EXCLUDED.requests,
      tier_cost = used.tier_cost + EXCLUDED.tier_cost,
      tier_tokens = used.tier_tokens + EXCLUDED.tier_tokens,
      updated_at = CASE WHEN used.updated_at < EXCLUDED.updated_at - INTERVAL '20 seconds'
        THEN EXCLUDED.updated_at ELSE used.updated_at END`;
}
