import type { BudgetUsage, KeyCounts } from './admission-store.ts';

export type BudgetDecision = 'admit' | 'budget_exceeded' | 'budget_reserved';

// A billionth of a dollar, as for quotas: sums in floating point are not exact.
const TOLERANCE_USD = 1e-9;

/**
 * Whether the budget of a key allows a request. What the request itself may cost does not count: a single request gets the
 * last cent. Unknown values refuse no request.
 */
export function decideBudget(
  budgetUsd: number | null,
  usage: Pick<BudgetUsage, 'costUsd'> | undefined,
  { reservedUsd, unsettledUsd }: Pick<KeyCounts, 'reservedUsd' | 'unsettledUsd'>,
): BudgetDecision {
  if (budgetUsd === null || usage === undefined) return 'admit';
  const isSpent = (costUsd: number): boolean => costUsd >= budgetUsd - TOLERANCE_USD;
  if (isSpent(usage.costUsd + unsettledUsd)) return 'budget_exceeded';
  return isSpent(usage.costUsd + reservedUsd) ? 'budget_reserved' : 'admit';
}
