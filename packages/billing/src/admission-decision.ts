import type { AccountState, WindowUsage } from './admission-store.ts';
import type { TierLimits } from './billing-facts.ts';
import { isDrained } from './drained-tier.ts';

export type AdmissionDecision = 'admit' | 'quota_exceeded' | 'payment_required';

interface AdmissionState {
  readonly tier: Pick<TierLimits, 'monthlyUsdQuota' | 'monthlyTokenQuota'>;
  /** Undefined if it is not known. */
  readonly window: Pick<WindowUsage, 'costUsd' | 'tokens'> | undefined;
  readonly account: Omit<AccountState, 'version'> | undefined;
  /** Whether the model has a price: without one it cannot be paid with points. */
  readonly isPriced: boolean;
  readonly now: Date;
}

/** Whether a request is allowed by its tier or, when that is drained, by its points. Unknown values refuse no request. */
export function decideAdmission(state: AdmissionState): AdmissionDecision {
  const { tier, window, account, isPriced, now } = state;
  if (window === undefined || !isDrained(tier, window)) return 'admit';
  if (account === undefined) return 'admit';
  const { balance, refusedUntil, hasHistory } = account;
  const isRefused = refusedUntil !== null && refusedUntil.getTime() > now.getTime();
  if (balance > 0 && isPriced && !isRefused) return 'admit';
  return hasHistory || balance > 0 ? 'payment_required' : 'quota_exceeded';
}
