import type { QuotaWindow, WindowUsage } from '@model-gateway/billing';
import { arrayText } from '../connection/array-text.ts';
import type { RawQueries } from '../connection/connection.ts';

const EMPTY: WindowUsage = { costUsd: 0, tokens: 0, version: 0 };

/**
 * The usage that counts against the tier in each window, in their order. The month is computed, so that the index by month is not
 * an alternative to that by user: without statistics Postgres takes either, and a month has the lines of all users.
 */
export async function readWindows(
  queries: RawQueries,
  windows: readonly QuotaWindow[],
): Promise<readonly (QuotaWindow & WindowUsage)[]> {
  if (windows.length === 0) return [];
  const rows = await queries.$queryRaw<WindowUsage[]>`
    SELECT used."costUsd", used.tokens, used.version
    FROM unnest(
      ${arrayText(windows.map(({ userId }) => userId))}::uuid[],
      ${windows.map(({ month }) => `${month}-01`)}::date[]
    ) WITH ORDINALITY AS requested (user_id, month, position)
    CROSS JOIN LATERAL (
      SELECT
        coalesce(sum(tier_cost), 0)::double precision AS "costUsd",
        coalesce(sum(tier_tokens), 0)::double precision AS tokens,
        coalesce(sum(requests), 0)::double precision AS version
      FROM usage_totals total
      WHERE total.user_id = requested.user_id AND total.month + 0 = requested.month
    ) AS used
    ORDER BY requested.position`;
  return windows.map((window, index) => ({ ...window, ...(rows[index] ?? EMPTY) }));
}
