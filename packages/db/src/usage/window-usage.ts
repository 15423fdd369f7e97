import type { AccountRefusal, QuotaWindow, WindowUsage } from '@model-gateway/billing';
import { arrayText } from '../connection/array-text.ts';
import type { RawQueries } from '../connection/connection.ts';

const EMPTY: WindowRow = { costUsd: 0, tokens: 0, version: 0, refusals: null };

interface WindowRow extends Omit<WindowUsage, 'refusals'> {
  readonly refusals: readonly AccountRefusal[] | null;
}

/**
 * The usage that counts against the tier in each window, in their order. The month is computed, so that the index by month is not
 * an alternative to that by user: without statistics Postgres takes either, and a month has the lines of all users.
 */
export async function readWindows(
  queries: RawQueries,
  windows: readonly QuotaWindow[],
): Promise<readonly (QuotaWindow & WindowUsage)[]> {
  if (windows.length === 0) return [];
  const rows = await queries.$queryRaw<WindowRow[]>`
    SELECT used."costUsd", used.tokens, used.version, refused.refusals
    FROM unnest(
      ${arrayText(windows.map(({ userId }) => userId))}::uuid[],
      ${windows.map(({ month }) => `${month}-01`)}::date[]
    ) WITH ORDINALITY AS requested (user_id, month, position)
    CROSS JOIN LATERAL (
      SELECT
        coalesce(sum(tier_cost), 0)::double precision AS "costUsd",
        coalesce(sum(tier_tokens), 0)::double precision AS tokens,
        coalesce(sum(requests), 0)::double precision AS version
      FROM quota_usage used
      WHERE used.user_id = requested.user_id AND used.month + 0 = requested.month
    ) AS used
    CROSS JOIN LATERAL (
      SELECT
        json_agg(json_build_object(
          'account', json_build_object('type', account.owner_type, 'id', account.owner_id),
          'increases', refusal.increases
        )) AS refusals
      FROM account_refusals refusal JOIN ledger_accounts account ON account.id = refusal.account_id
      WHERE refusal.user_id = requested.user_id AND refusal.month = requested.month
    ) AS refused
    ORDER BY requested.position`;
  return windows.map((window, index) => {
    const { refusals, ...used } = rows[index] ?? EMPTY;
    return { ...window, ...used, ...(refusals === null ? {} : { refusals }) };
  });
}
