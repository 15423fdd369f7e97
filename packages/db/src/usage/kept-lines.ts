import { arrayText } from '../connection/array-text.ts';
import type { RawQueries } from '../connection/connection.ts';
import { usdText } from './exact-usd.ts';
import { addFolded, foldLines, SUM_TABLES } from './sum-tables.ts';
import type { UsageLine } from './usage-lines.ts';

/** Adds lines to all kept sums. */
export async function countLines(queries: RawQueries, lines: readonly UsageLine[]): Promise<void> {
  for (const table of SUM_TABLES) await addFolded(queries, table, foldLines(lines, table));
}

/**
 * Adds served requests to what quotas and budgets are checked against.
 *
 * The time of a change moves on only after twenty seconds: an update that changes no indexed column costs a part of one that does.
 * Who reads what changed looks back further than that.
 */
export async function countPayers(queries: RawQueries, lines: readonly UsageLine[]): Promise<void> {
  const column = (pick: (line: UsageLine) => string | number | boolean | null): string =>
    arrayText(lines.map(pick));
  await queries.$executeRaw`
    WITH line AS MATERIALIZED (
      SELECT given.*, (hour AT TIME ZONE 'UTC')::date AS date
      FROM unnest(
        ${column(({ hour }) => hour)}::timestamptz[],
        ${column(({ userId }) => userId)}::uuid[],
        ${column(({ keyId }) => keyId)}::uuid[],
        ${column(({ project }) => project)}::text[],
        ${column(({ isOfTier }) => isOfTier)}::boolean[],
        ${column(({ requests }) => requests)}::bigint[],
        ${column(({ totalTokens }) => totalTokens)}::bigint[],
        ${column(({ cost }) => usdText(cost))}::numeric[]
      ) AS given (hour, user_id, key_id, project, is_of_tier, requests, total_tokens, cost)
    ), totals AS (
      INSERT INTO usage_totals AS total (
        user_id, project, month, requests, tier_requests, tier_cost, tier_tokens, updated_at
      )
      SELECT
        user_id, CASE WHEN key_id IS NULL THEN '' ELSE project END, date_trunc('month', date::timestamp)::date,
        sum(requests), coalesce(sum(requests) FILTER (WHERE is_of_tier), 0),
        coalesce(sum(cost) FILTER (WHERE is_of_tier), 0),
        coalesce(sum(total_tokens) FILTER (WHERE is_of_tier), 0), clock_timestamp()
      FROM line
      GROUP BY 1, 2, 3
      ORDER BY 1, 2, 3
      ON CONFLICT (user_id, month, project) DO UPDATE SET
        requests = total.requests + EXCLUDED.requests,
        tier_requests = total.tier_requests + EXCLUDED.tier_requests,
        tier_cost = total.tier_cost + EXCLUDED.tier_cost,
        tier_tokens = total.tier_tokens + EXCLUDED.tier_tokens,
        updated_at = CASE WHEN total.updated_at < EXCLUDED.updated_at - INTERVAL '20 seconds'
          THEN EXCLUDED.updated_at ELSE total.updated_at END
    )
    INSERT INTO key_spend AS spend (key_id, day, requests, cost, updated_at)
    SELECT key_id, date, sum(requests), sum(cost), clock_timestamp()
    FROM line
    WHERE key_id IS NOT NULL
    GROUP BY 1, 2
    ORDER BY 1, 2
    ON CONFLICT (key_id, day) DO UPDATE SET
      requests = spend.requests + EXCLUDED.requests,
      cost = spend.cost + EXCLUDED.cost,
      updated_at = CASE WHEN spend.updated_at < EXCLUDED.updated_at - INTERVAL '20 seconds'
        THEN EXCLUDED.updated_at ELSE spend.updated_at END`;
}
