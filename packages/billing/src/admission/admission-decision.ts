import type {
  AccountState,
  DrawingAccount,
  ReservedAmounts,
  UsedAmounts,
  WindowUsage,
} from './admission-store.ts';
import type { TierLimits } from './billing-facts.ts';

export type AdmissionDecision = 'admit' | 'quota_exceeded' | 'payment_required' | 'quota_reserved';

interface AdmissionState {
  readonly tier: Pick<TierLimits, 'monthlyUsdQuota' | 'monthlyTokenQuota'>;
  /** Undefined if it is not known. */
  readonly window: Omit<WindowUsage, 'version'> | undefined;
  /** The account that would pay, and what is known of it. */
  readonly drawingAccount: DrawingAccount;
  readonly account: Omit<AccountState, 'version'> | undefined;
  /** By the other requests in flight. */
  readonly reserved: ReservedAmounts;
  /** What the request itself reserves of the account. */
  readonly points: number;
  /** Whether the model has a price: without one it cannot be paid with points. */
  readonly isPriced: boolean;
}

export const NOTHING_RESERVED: ReservedAmounts = { tokens: 0, costUsd: 0, points: 0 };
const NOTHING_USED = { tokens: 0, costUsd: 0 };

/**
 * Whether a request is allowed by its tier or, when that is drained, by its points. What the request itself may use of the
 * tier does not count: a single request gets the last token. Points must cover what it reserves. Unknown values refuse no
 * request by themselves: an unknown window counts as empty, and where the account is unknown as well, only what other
 * requests reserve refuses.
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

/** Whether an account pays for nothing of the user, because it could not cover an earlier request and has not grown since. */
export const isRefused = ({
  window,
  drawingAccount: { type, id },
  account,
}: Pick<AdmissionState, 'window' | 'drawingAccount' | 'account'>): boolean =>
  window?.refusals?.some(
    (refusal) =>
      refusal.account.type === type &&
      refusal.account.id === id &&
      refusal.increases >= (account?.increases ?? 0),
  ) ?? false;

function isCovered(state: AdmissionState, reserved: ReservedAmounts): boolean {
  const { tier, window, account, points, isPriced } = state;
  if (!isDrained(tier, withReserved(window ?? NOTHING_USED, reserved))) return true;
  if (account === undefined) return reserved.tokens === 0 && reserved.costUsd === 0;
  // An empty account does not pay for what rounds to nothing either.
  const isEnough = account.balance - reserved.points >= Math.max(points, 1);
  return isEnough && isPriced && !isRefused(state);
}

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
