import type { BudgetUsage, KeyCounts } from './admission-store.ts';

export type BudgetDecision = 'admit' | 'budget_exceeded' | 'budget_reserved';

// A billionth of a dollar, as for quotas: sums in floating point are not exact.
const TOLERANCE_USD = 1e-9;

/**
 * Whether the budget of a key allows a request. What the request itself may cost does not count: a single request gets the
 * last cent. Of an unknown budget nothing counts as used but what is not settled yet.
 */
export function decideBudget(
  budgetUsd: number | null,
  usage: Pick<BudgetUsage, 'costUsd'> | undefined,
  { reservedUsd, unsettledUsd }: Pick<KeyCounts, 'reservedUsd' | 'unsettledUsd'>,
): BudgetDecision {
  if (budgetUsd === null) return 'admit';
  const isSpent = (costUsd: number): boolean => costUsd >= budgetUsd - TOLERANCE_USD;
  const usedUsd = usage?.costUsd ?? 0;
  if (isSpent(usedUsd + unsettledUsd)) return 'budget_exceeded';
  return isSpent(usedUsd + reservedUsd) ? 'budget_reserved' : 'admit';
}
