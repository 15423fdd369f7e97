import {
  budgetResetOf,
  isDrained,
  isRefused,
  secondsToNextMonth,
  type AccountState,
  type DrawingAccount,
  type PayingUser,
  type TierLimits,
  type WindowUsage,
} from '@model-gateway/billing';
import { ServiceError, type BudgetPeriod } from '@model-gateway/contracts';

const RESERVED_RETRY_SECS = 5;
/** Limits per minute count the last 60 seconds. */
const RETRY_AFTER_SECS = 60;

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
  state: QuotaState,
): ServiceError {
  const { tier, window, user, now } = state;
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
        `${missingPoints(state)}: ${usedUpLimit(tier, window)} ${tierRemedy(user)}`,
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
  readonly window: Pick<WindowUsage, 'costUsd' | 'tokens' | 'refusals'>;
  /** Undefined where the account is not known. */
  readonly user: PayingUser | undefined;
  readonly drawingAccount: DrawingAccount;
  readonly account: AccountState | undefined;
  /** What the request reserves. */
  readonly points: number;
  readonly isPriced: boolean;
  readonly now: Date;
}

/** Why the account does not pay for a request on a drained tier. */
function missingPoints(state: QuotaState): string {
  const { account, points, isPriced } = state;
  const balance = account?.balance ?? 0;
  if (balance === 0 || !isPriced) return 'points and monthly quota are used up';
  const left = `${balance} ${balance === 1 ? 'point is' : 'points are'} left`;
  return isRefused(state)
    ? `the monthly quota is used up, and ${left}, which did not cover an earlier request of yours; ` +
        'they pay for your requests again when the balance has grown or the month has ended'
    : `the monthly quota is used up, and ${left} of the ${points} that this request may cost`;
}

/** Says which limit it was, and its value. */
function usedUpLimit(tier: TierLimits, window: QuotaState['window']): string {
  const { name, monthlyUsdQuota, monthlyTokenQuota } = tier;
  const isOfTokens = isDrained({ monthlyUsdQuota: null, monthlyTokenQuota }, window);
  const limit = isOfTokens ? `${monthlyTokenQuota} tokens` : `${monthlyUsdQuota} USD`;
  return `the tier '${name}' allows ${limit} per month.`;
}

/** What the person whose account is limited can do about its tier: an admin changes it, anyone else asks one. */
function tierRemedy(user: PayingUser | undefined): string {
  if (user === undefined) return 'An admin of this gateway can set a larger tier.';
  const { email, isAdmin } = user;
  return isAdmin
    ? `The account is ${email}, an admin. Set a larger tier in the console under People, or with: gateway plan set ${shellWord(email)} enterprise`
    : `The account is ${email}. Ask an admin of this gateway for a larger tier.`;
}

/** As it can be pasted into a shell. */
const shellWord = (text: string): string =>
  /^[\w.@+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;

/** The refusal of a user who has as many calls as allowed. */
export const tooManyCalls = (callsMax: number): ServiceError =>
  new ServiceError(
    'rate_limit_exceeded',
    `too many streams and calls in progress: at most ${callsMax} per user at a time. ` +
      'Try again when one has ended; an operator raises the limit with SERVICE_MAX_CALLS_PER_USER.',
  );

/** The refusal of a request over a limit per minute: says which limit it was, its value, and what lifts it. */
export function tooManyRequests(
  requestsPerMinute: number,
  setBy: 'key' | 'tier' | 'group',
  { tier, user }: { readonly tier: TierLimits; readonly user?: PayingUser | undefined },
): ServiceError {
  const [scope, remedy] = {
    group: [
      'your group',
      'The rpm_ceiling of the group sets this limit; a group admin changes it with group.update.',
    ],
    key: [
      'this key',
      'Its rpm sets this limit. Its owner raises it: gateway keys update <key> --rpm <count>',
    ],
    tier: ['your tier', `The tier '${tier.name}' sets this limit. ${tierRemedy(user)}`],
  }[setBy];
  return new ServiceError(
    'rate_limit_exceeded',
    `rate limit exceeded: ${scope} allows ${requestsPerMinute} requests per minute. ${remedy}`,
    { details: { retry_after_secs: RETRY_AFTER_SECS } },
  );
}

/** The refusal of a request whose key has used as many tokens as allowed. */
export function tooManyTokens(tokensPerMinute: number, nextFreeMs: number): ServiceError {
  return new ServiceError(
    'rate_limit_exceeded',
    `rate limit exceeded: this key allows ${tokensPerMinute} tokens per minute. ` +
      'Its tpm sets this limit. Its owner raises it: gateway keys update <key> --tpm <count>',
    { details: { retry_after_secs: Math.max(1, Math.ceil(nextFreeMs / 1000)) } },
  );
}
