import type { WindowUsage } from './admission-store.ts';
import type { TierLimits } from './billing-facts.ts';

// A billionth of a dollar: ten times 0.1 is a little less than 1 in floating point, but exactly 1 in the database.
const TOLERANCE_USD = 1e-9;

/** The tier of a user who has none, unless the table of tiers has other limits for it. */
export const FREE_TIER: TierLimits = {
  name: 'free',
  monthlyUsdQuota: 1,
  monthlyTokenQuota: 100_000,
  rpm: 10,
};

/** The tiers of a new installation. */
export const BUILT_IN_TIERS: readonly TierLimits[] = [
  FREE_TIER,
  { name: 'pro', monthlyUsdQuota: 20, monthlyTokenQuota: 5_000_000, rpm: 120 },
  { name: 'enterprise', monthlyUsdQuota: null, monthlyTokenQuota: null, rpm: 1_000 },
];

/** Whether a window has used up one of its tier's monthly quotas. */
export function isDrained(
  tier: Pick<TierLimits, 'monthlyUsdQuota' | 'monthlyTokenQuota'>,
  usage: Pick<WindowUsage, 'costUsd' | 'tokens'>,
): boolean {
  const { monthlyUsdQuota, monthlyTokenQuota } = tier;
  return (
    (monthlyUsdQuota !== null && usage.costUsd >= monthlyUsdQuota - TOLERANCE_USD) ||
    (monthlyTokenQuota !== null && usage.tokens >= monthlyTokenQuota)
  );
}
