import type { TierLimits } from '../admission/billing-facts.ts';
import { FREE_TIER, isDrained } from '../admission/admission-decision.ts';

/** The usage of a user in a month. */
interface MonthlyUsage {
  /** What counts against the tier: the rows without points. */
  readonly costUsd: number;
  readonly tokens: number;
  /** Every request, paid by points or by the tier. */
  readonly requests: number;
}

/** The tier, usage and points of a user. */
export interface PlanStanding {
  readonly tierName: string;
  readonly usage: MonthlyUsage;
  /** Points in the user's wallet. */
  readonly pointsBalance: number;
}

/** The new values of a tier; undefined ones stay as they are, or unlimited on a new tier. */
export type TierChanges = {
  readonly [Limit in Exclude<keyof TierLimits, 'name'>]?: TierLimits[Limit] | undefined;
};

/** Stores tiers and the tier of each user. */
export interface PlanStore {
  /** From the lowest to the highest limits. */
  tiers(): Promise<readonly TierLimits[]>;
  saveTier(name: string, changes: TierChanges): Promise<void>;
  /** Its users then have the free tier. */
  removeTier(name: string): Promise<void>;
  /** Sets the tier of a user and returns the user. Rejects with `not_found` without such a user or tier. */
  assign(email: string, tierName: string): Promise<string>;
  /** In a UTC month, `YYYY-MM`. Undefined when there is no such user. */
  standing(userId: string, month: string): Promise<PlanStanding | undefined>;
}

/** The remaining quota of a user. */
export interface Plan {
  readonly currentTier: string;
  /** Null if the tier is unlimited; never below zero. */
  readonly remaining: { readonly costUsd: number | null; readonly tokens: number | null };
  /** Whether the quota is used up. Points may still pay for more. */
  readonly isQuotaExceeded: boolean;
}

// Dollars are shown without the noise that subtracting fractions leaves behind.
const USD_DIGITS = 12;

/** The remaining quota of a tier after this usage. */
export function planOf(tiers: readonly TierLimits[], standing: PlanStanding): Plan {
  const { tierName, usage } = standing;
  const tier = tiers.find(({ name }) => name === tierName) ?? FREE_TIER;
  const { monthlyUsdQuota, monthlyTokenQuota } = tier;
  return {
    currentTier: tier.name,
    remaining: {
      costUsd:
        monthlyUsdQuota === null
          ? null
          : Number(Math.max(0, monthlyUsdQuota - usage.costUsd).toFixed(USD_DIGITS)),
      tokens: monthlyTokenQuota === null ? null : Math.max(0, monthlyTokenQuota - usage.tokens),
    },
    isQuotaExceeded: isDrained(tier, usage),
  };
}
