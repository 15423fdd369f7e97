import type { DrawingAccount, KeyLimits, PayingUser, TierLimits } from '@model-gateway/billing';
import type { BudgetPeriod } from '@model-gateway/contracts';

/** Who pays for a request, and by which tier. */
export interface Payer {
  readonly userId: string;
  /** Whose pool a request with a group key draws on. */
  readonly groupId: string | null;
  /** What a request costs the group, as a multiple of its price. */
  readonly multiplier: number;
  readonly tier: TierLimits;
  /** Whom a refusal names; without it the account is read when there is one. */
  readonly user?: PayingUser | undefined;
  /** The limits of the key of the request; undefined where it has neither a budget nor a limit of tokens. */
  readonly key?: PayerKey | undefined;
}

interface PayerKey extends KeyLimits {
  /** Null without a budget. */
  readonly budgetPeriod: BudgetPeriod | null;
}

/** Whether a tier can be drained at all. */
export const hasQuota = ({ monthlyUsdQuota, monthlyTokenQuota }: TierLimits): boolean =>
  monthlyUsdQuota !== null || monthlyTokenQuota !== null;

/** The pool of the group for a group key, the wallet of the user otherwise. */
export const drawingAccountOf = ({
  groupId,
  userId,
}: Pick<Payer, 'groupId' | 'userId'>): DrawingAccount =>
  groupId === null ? { type: 'user', id: userId } : { type: 'group', id: groupId };

/** The limits of a key as the admission store checks them. */
export const keyLimitsOf = ({ id, budgetUsd, tokensPerMinute }: PayerKey): KeyLimits => ({
  id,
  budgetUsd,
  tokensPerMinute,
});
