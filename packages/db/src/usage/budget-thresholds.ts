import type { BudgetUsage, BudgetWindow } from '@model-gateway/billing';
import { arrayText } from '../connection/array-text.ts';
import type { RawQueries } from '../connection/connection.ts';

/** Of a budget, in percent. */
const THRESHOLDS = [50, 80, 100];
const TOLERANCE_USD = 1e-9;

/**
 * Stores which parts of their budgets keys have spent, each once per period, in the transaction that writes the rows. A row
 * without `published_at` waits for its delivery.
 */
export async function storeThresholds(
  queries: RawQueries,
  budgets: readonly (BudgetWindow & BudgetUsage)[],
): Promise<void> {
  if (budgets.length === 0) return;
  await queries.$executeRaw`
    INSERT INTO budget_thresholds (key_id, period, start, percent, budget_usd, spent_usd)
    SELECT key.id, used.period, used.start, threshold.percent, key.budget_usd, used.spent_usd
    FROM unnest(
      ${arrayText(budgets.map(({ keyId }) => keyId))}::uuid[],
      ${arrayText(budgets.map(({ period }) => period))}::text[],
      ${arrayText(budgets.map(({ start }) => start))}::date[],
      ${arrayText(budgets.map(({ costUsd }) => costUsd))}::double precision[]
    ) AS used (key_id, period, start, spent_usd)
    JOIN api_keys key ON key.id = used.key_id
    CROSS JOIN unnest(${THRESHOLDS}::integer[]) AS threshold (percent)
    WHERE used.spent_usd > 0
      AND used.spent_usd >= key.budget_usd * threshold.percent / 100 - ${TOLERANCE_USD}
    ORDER BY key.id, threshold.percent
    ON CONFLICT (key_id, period, start, percent) DO NOTHING`;
}

/** Forgets the thresholds that a raised budget has not reached, so that they are reported when it reaches them. */
export async function forgetUnreached(
  queries: RawQueries,
  { keyId, period, start, costUsd }: BudgetWindow & BudgetUsage,
): Promise<void> {
  await queries.$executeRaw`
    DELETE FROM budget_thresholds threshold USING api_keys key
    WHERE key.id = ${keyId}::uuid AND threshold.key_id = key.id
      AND threshold.period = ${period} AND threshold.start = ${start}::date
      AND ${costUsd}::double precision < key.budget_usd * threshold.percent / 100 - ${TOLERANCE_USD}`;
}
