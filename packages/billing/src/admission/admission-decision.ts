import type { AccountState, ReservedAmounts, UsedAmounts, WindowUsage } from './admission-store.ts';
import type { TierLimits } from './billing-facts.ts';
import { isDrained } from './drained-tier.ts';

export type AdmissionDecision = 'admit' | 'quota_exceeded' | 'payment_required' | 'quota_reserved';

interface AdmissionState {
  readonly tier: Pick<TierLimits, 'monthlyUsdQuota' | 'monthlyTokenQuota'>;
  /** Undefined if it is not known. */
  readonly window: Pick<WindowUsage, 'costUsd' | 'tokens'> | undefined;
  readonly account: Omit<AccountState, 'version'> | undefined;
  /** By the other requests in flight. */
  readonly reserved: ReservedAmounts;
  /** Whether the model has a price: without one it cannot be paid with points. */
  readonly isPriced: boolean;
  readonly now: Date;
}

export const NOTHING_RESERVED: ReservedAmounts = { tokens: 0, costUsd: 0, points: 0 };
const NOTHING_USED = { tokens: 0, costUsd: 0 };

/**
 * Whether a request is allowed by its tier or, when that is drained, by its points. What the request itself may use does not
 * count: a single request gets the last token. Unknown values refuse no request by themselves: an unknown window counts as
 * empty, and where the account is unknown as well, only what other requests reserve refuses.
 */
export function decideAdmission(state: AdmissionState): AdmissionDecision {
  const { account } = state;
  if (isCovered(state, NOTHING_RESERVED)) {
    return isCovered(state, state.reserved) ? 'admit' : 'quota_reserved';
  }
  const hasPoints = account !== undefined && (account.hasHistory || account.balance > 0);
  return hasPoints ? 'payment_required' : 'quota_exceeded';
}

/** The usage of a window together with what is reserved. */
export const withReserved = (
  { costUsd, tokens }: Pick<WindowUsage, 'costUsd' | 'tokens'>,
  reserved: UsedAmounts,
): Pick<WindowUsage, 'costUsd' | 'tokens'> => ({
  costUsd: costUsd + reserved.costUsd,
  tokens: tokens + reserved.tokens,
});

function isCovered(
  { tier, window, account, isPriced, now }: AdmissionState,
  reserved: ReservedAmounts,
): boolean {
  if (!isDrained(tier, withReserved(window ?? NOTHING_USED, reserved))) return true;
  if (account === undefined) return reserved.tokens === 0 && reserved.costUsd === 0;
  const { balance, refusedUntil } = account;
  const isRefused = refusedUntil !== null && refusedUntil.getTime() > now.getTime();
  return balance > reserved.points && isPriced && !isRefused;
}
