import type { TierLimits } from './billing-facts.ts';
import { FREE_TIER, isDrained } from './drained-tier.ts';

/** What counts against the tier of a user in a month: the rows that no points were paid for. */
export interface TierUsage {
  readonly costUsd: number;
  readonly tokens: number;
  readonly requests: number;
}

/** Where a user stands. */
export interface PlanStanding {
  readonly tierName: string;
  readonly usage: TierUsage;
  /** Points in their own wallet. */
  readonly pointsBalance: number;
}

/** What a tier is changed to; what is undefined stays as it is, and on a new tier it is unlimited. */
export type TierChanges = {
  readonly [Limit in Exclude<keyof TierLimits, 'name'>]?: TierLimits[Limit] | undefined;
};

/** Where tiers are kept, and who is on which. */
export interface PlanStore {
  /** From the least to the most that they allow. */
  tiers(): Promise<readonly TierLimits[]>;
  saveTier(name: string, changes: TierChanges): Promise<void>;
  /** Puts a user on a tier and answers who it is. Rejects with `not_found` without such a user or tier. */
  assign(email: string, tierName: string): Promise<string>;
  /** In a UTC month, `YYYY-MM`. Undefined when there is no such user. */
  standing(userId: string, month: string): Promise<PlanStanding | undefined>;
}

/** What a user has of their tier. */
export interface Plan {
  readonly currentTier: string;
  /** Null where the tier is unlimited; never below zero. */
  readonly remaining: { readonly costUsd: number | null; readonly tokens: number | null };
  /** Whether the tier is used up. Points may still pay for what is over it. */
  readonly isQuotaExceeded: boolean;
}

// Dollars are shown without the noise that subtracting fractions leaves behind.
const USD_DIGITS = 12;

/** What is left of a tier after this usage. */
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
