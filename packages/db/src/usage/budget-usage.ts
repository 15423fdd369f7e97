import { budgetWindowOf, type BudgetUsage, type BudgetWindow } from '@model-gateway/billing';
import type { BudgetPeriod } from '@model-gateway/contracts';
import { arrayText } from '../connection/array-text.ts';
import type { RawQueries } from '../connection/connection.ts';

const NOTHING: BudgetUsage = { costUsd: 0, version: 0 };

/** What counts against each budget, in their order. */
export async function readBudgets(
  queries: RawQueries,
  windows: readonly BudgetWindow[],
): Promise<readonly (BudgetWindow & BudgetUsage)[]> {
  if (windows.length === 0) return [];
  const rows = await queries.$queryRaw<BudgetUsage[]>`
    SELECT used."costUsd", used.version
    FROM unnest(
      ${arrayText(windows.map(({ keyId }) => keyId))}::uuid[],
      ${arrayText(windows.map(({ period }) => period))}::text[],
      ${arrayText(windows.map(({ start }) => start))}::date[]
    ) WITH ORDINALITY AS requested (key_id, period, start, position)
    CROSS JOIN LATERAL (
      SELECT
        coalesce(sum(cost), 0)::double precision AS "costUsd",
        coalesce(sum(requests), 0)::double precision AS version
      FROM key_spend spend
      WHERE spend.key_id = requested.key_id AND spend.day >= requested.start AND spend.day < CASE requested.period
        WHEN 'day' THEN requested.start + 1
        WHEN 'week' THEN requested.start + 7
        WHEN 'month' THEN (requested.start + INTERVAL '1 month')::date
        ELSE 'infinity'::date
      END
    ) AS used
    ORDER BY requested.position`;
  return windows.map((window, index) => ({ ...window, ...(rows[index] ?? NOTHING) }));
}

/** The use of a key at a time. */
interface KeyUse {
  readonly keyId: string;
  readonly at: Date;
}

/** The windows that the uses of keys count in, each once; keys without a budget have none. */
export async function budgetWindowsOf(
  queries: RawQueries,
  uses: readonly KeyUse[],
): Promise<readonly BudgetWindow[]> {
  if (uses.length === 0) return [];
  const rows = await queries.$queryRaw<{ id: string; period: BudgetPeriod }[]>`
    SELECT id::text AS id, budget_period AS period
    FROM api_keys
    WHERE id = ANY(${[...new Set(uses.map(({ keyId }) => keyId))]}::uuid[])
      AND budget_period IS NOT NULL`;
  const periods = new Map(rows.map(({ id, period }) => [id, period]));
  const windows = new Map<string, BudgetWindow>();
  for (const { keyId, at } of uses) {
    const period = periods.get(keyId);
    if (period === undefined) continue;
    const window = budgetWindowOf(keyId, period, at);
    windows.set(`${window.start} ${keyId}`, window);
  }
  return [...windows.values()];
}
