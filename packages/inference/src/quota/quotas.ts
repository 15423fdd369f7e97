import {
  decideAdmission,
  isDrained,
  secondsToNextMonth,
  windowOf,
  type AccountState,
  type AdmissionStore,
  type DrawingAccount,
  type TierLimits,
  type WindowUsage,
} from '@model-gateway/billing';
import { ServiceError } from '@model-gateway/contracts';
import type { Clock, Log } from '@model-gateway/kernel';
import { createQuotaFacts, type ReadableFacts } from './quota-facts.ts';
import type { RecentUsage, UnsettledUsage } from './unsettled-usage.ts';

/** Who pays for a request, and by which tier. */
export interface Payer {
  readonly userId: string;
  /** Whose pool a request with a group key draws on. */
  readonly groupId: string | null;
  /** What a request costs the group, as a multiple of its price. */
  readonly multiplier: number;
  readonly tier: TierLimits;
}

/** Hints from the admission store; undefined if it had none. */
export interface QuotaHints {
  readonly window: WindowUsage | undefined;
  readonly account: AccountState | undefined;
}

/** Refuses requests that neither the monthly quota nor points cover. Unknown values refuse no request. */
export interface Quotas {
  /** Undefined or a promise that resolves if the request is covered. The model is null for video, which always has a price. */
  assertCovered(payer: Payer, hints: QuotaHints, model: string | null): Promise<void> | undefined;
  /** The same for a user with a JWT: by the window of the whole user and the user's wallet. */
  assertUserCovered(userId: string, model: string | null): Promise<void>;
}

interface QuotasDependencies {
  readonly store: AdmissionStore;
  readonly facts: ReadableFacts;
  readonly unsettled: Pick<UnsettledUsage, 'of'>;
  readonly pointsPerUsd: number;
  readonly isPriced: (model: string) => boolean;
  readonly clock: Clock;
  readonly log: Log;
}

/** How long a request whose quota is about to end waits for what was served just before it to be counted. */
const SETTLED_WITHIN_MS = 500;
const RETRY_MS = 20;

export function createQuotas(dependencies: QuotasDependencies): Quotas {
  const { store, facts, unsettled, pointsPerUsd, isPriced, clock, log } = dependencies;
  const stored = createQuotaFacts({ store, facts, clock, log });

  /** Whether the requests of the last moment could drain the tier or the account. */
  function isNearLimit({ tier, multiplier }: Payer, hints: QuotaHints, recent: RecentUsage) {
    const { window, account } = hints;
    if (window === undefined) return true;
    if (!isDrained(tier, together(window, recent))) return false;
    if (!isDrained(tier, window) || account === undefined) return true;
    return account.balance <= Math.ceil(recent.costUsd * pointsPerUsd * multiplier);
  }

  /** The recorder may be another process, and needs a few milliseconds per event. */
  async function untilRecorded({ id, createdAt }: RecentUsage['last']): Promise<void> {
    const deadline = performance.now() + SETTLED_WITHIN_MS;
    while (performance.now() < deadline) {
      if ((await stored.isRecorded(id, new Date(createdAt))) !== false) return;
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }

  /** The values to decide by: those of the database if the hints may be outdated. */
  async function latest(payer: Payer, hints: QuotaHints, now: Date): Promise<QuotaHints> {
    const recent = unsettled.of(payer.userId);
    if (recent === undefined || !isNearLimit(payer, hints, recent)) return hints;
    await untilRecorded(recent.last);
    return {
      window: (await stored.window(windowOf(payer.userId, now))) ?? hints.window,
      account: (await stored.account(drawingAccountOf(payer))) ?? hints.account,
    };
  }

  async function decide(payer: Payer, known: QuotaHints, model: string | null): Promise<void> {
    const now = new Date(clock.now());
    const hints = await latest(payer, known, now);
    const window = hints.window ?? (await stored.window(windowOf(payer.userId, now)));
    if (window === undefined || !isDrained(payer.tier, window)) return;
    const account = hints.account ?? (await stored.account(drawingAccountOf(payer)));
    const { tier } = payer;
    const hasPrice = model === null || isPriced(model);
    const decision = decideAdmission({ tier, window, account, isPriced: hasPrice, now });
    if (decision !== 'admit') throw refusal(decision, now);
  }

  function assertCovered(payer: Payer, hints: QuotaHints, model: string | null) {
    if (!hasQuota(payer.tier)) return undefined;
    const { window } = hints;
    if (window === undefined) return decide(payer, hints, model);
    const recent = unsettled.of(payer.userId);
    const counted = recent === undefined ? window : together(window, recent);
    return isDrained(payer.tier, counted) ? decide(payer, hints, model) : undefined;
  }

  return {
    assertCovered,
    async assertUserCovered(userId, model) {
      const tier = await stored.tierOf(userId);
      if (tier === undefined || !hasQuota(tier)) return;
      const own = { groupId: null, multiplier: 1 };
      const payer: Payer = { userId, ...own, tier };
      const answer = await store.admit({
        knownEpoch: Number.MAX_SAFE_INTEGER,
        limits: [],
        window: windowOf(userId, new Date(clock.now())),
        account: drawingAccountOf(payer),
      });
      const hints = answer.outcome === 'passed' ? answer : NO_HINTS;
      await assertCovered(payer, hints, model);
    },
  };
}

const together = (
  window: Pick<WindowUsage, 'costUsd' | 'tokens'>,
  recent: RecentUsage,
): Pick<WindowUsage, 'costUsd' | 'tokens'> => ({
  costUsd: window.costUsd + recent.costUsd,
  tokens: window.tokens + recent.tokens,
});

const NO_HINTS: QuotaHints = { window: undefined, account: undefined };

/** Whether a tier can be drained at all. */
export const hasQuota = ({ monthlyUsdQuota, monthlyTokenQuota }: TierLimits): boolean =>
  monthlyUsdQuota !== null || monthlyTokenQuota !== null;

/** The pool of the group for a group key, the wallet of the user otherwise. */
export const drawingAccountOf = ({
  groupId,
  userId,
}: Pick<Payer, 'groupId' | 'userId'>): DrawingAccount =>
  groupId === null ? { type: 'user', id: userId } : { type: 'group', id: groupId };

function refusal(decision: 'quota_exceeded' | 'payment_required', now: Date): ServiceError {
  const details = { retry_after_secs: secondsToNextMonth(now) };
  return decision === 'quota_exceeded'
    ? new ServiceError('quota_exceeded', 'monthly quota exceeded', { details })
    : new ServiceError('payment_required', 'points and monthly quota are used up', { details });
}
