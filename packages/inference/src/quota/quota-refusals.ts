import {
  budgetResetOf,
  isDrained,
  secondsToNextMonth,
  type PayingUser,
  type TierLimits,
  type WindowUsage,
} from '@model-gateway/billing';
import { ServiceError, type BudgetPeriod } from '@model-gateway/contracts';

const RESERVED_RETRY_SECS = 5;

/** The error of a request that the budget of its key does not cover. */
export function budgetRefusal(
  decision: 'budget_exceeded' | 'budget_reserved',
  { budgetUsd, period, now }: BudgetState,
): ServiceError {
  if (decision === 'budget_reserved') {
    return new ServiceError(
      'budget_reserved',
      'the rest of the budget of this key is reserved by requests in progress; retry when they have ended',
      { details: { retry_after_secs: RESERVED_RETRY_SECS } },
    );
  }
  const reset = budgetResetOf(period, now);
  return new ServiceError(
    'budget_exceeded',
    `the budget of this key is spent: it allows ${budgetUsd} USD ${reset === null ? 'in total' : `per ${period}`}. ` +
      'Its owner raises it: gateway keys update <key> --budget <usd>',
    reset === null
      ? {}
      : { details: { retry_after_secs: Math.ceil((reset.getTime() - now.getTime()) / 1000) } },
  );
}

interface BudgetState {
  readonly budgetUsd: number | null;
  readonly period: BudgetPeriod;
  readonly now: Date;
}

/** The error of a request that neither the monthly quota nor points cover. */
export function quotaRefusal(
  decision: 'quota_exceeded' | 'payment_required' | 'quota_reserved',
  { tier, window, user, now }: QuotaState,
): ServiceError {
  const details = { retry_after_secs: secondsToNextMonth(now) };
  switch (decision) {
    case 'quota_exceeded':
      return new ServiceError(
        'quota_exceeded',
        `monthly quota exceeded: ${usedUpLimit(tier, window)} ${tierRemedy(user)}`,
        { details },
      );
    case 'payment_required':
      return new ServiceError(
        'payment_required',
        `points and monthly quota are used up: ${usedUpLimit(tier, window)} ${tierRemedy(user)}`,
        { details },
      );
    case 'quota_reserved':
      return new ServiceError(
        'quota_reserved',
        'the rest of the monthly quota is reserved by requests in progress; retry when they have ended',
        { details: { retry_after_secs: RESERVED_RETRY_SECS } },
      );
  }
}

interface QuotaState {
  readonly tier: TierLimits;
  readonly window: Pick<WindowUsage, 'costUsd' | 'tokens'>;
  /** Undefined where the account is not known. */
  readonly user: PayingUser | undefined;
  readonly now: Date;
}

/** Says which limit it was, and its value. */
function usedUpLimit(tier: TierLimits, window: QuotaState['window']): string {
  const { name, monthlyUsdQuota, monthlyTokenQuota } = tier;
  const isOfTokens = isDrained({ monthlyUsdQuota: null, monthlyTokenQuota }, window);
  const limit = isOfTokens ? `${monthlyTokenQuota} tokens` : `${monthlyUsdQuota} USD`;
  return `the tier '${name}' allows ${limit} per month.`;
}

/** What the person whose account is limited can do about its tier: an admin changes it, anyone else asks one. */
export function tierRemedy(user: PayingUser | undefined): string {
  if (user === undefined) return 'An admin of this gateway can set a larger tier.';
  const { email, isAdmin } = user;
  return isAdmin
    ? `The account is ${email}, an admin. Set a larger tier in the console under People, or with: gateway plan set ${shellWord(email)} enterprise`
    : `The account is ${email}. Ask an admin of this gateway for a larger tier.`;
}

/** As it can be pasted into a shell. */
const shellWord = (text: string): string =>
  /^[\w.@+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
