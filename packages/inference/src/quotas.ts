import {
  decideAdmission,
  isDrained,
  secondsToNextMonth,
  windowOf,
  type AccountState,
  type AdmissionStore,
  type BillingFacts,
  type DrawingAccount,
  type QuotaWindow,
  type TierLimits,
  type UsageOwner,
  type WindowUsage,
} from '@model-gateway/billing';
import { ServiceError } from '@model-gateway/contracts';
import { describeError, type Clock, type Log } from '@model-gateway/kernel';
import { answerWithin } from './answer-within.ts';

/** Who pays for a request, and by which tier. */
export interface Payer extends UsageOwner {
  /** Whose pool a request with a group key draws on. */
  readonly groupId: string | null;
  readonly tier: TierLimits;
}

/** What the admission store knew; undefined where it did not. */
export interface QuotaHints {
  readonly window: WindowUsage | undefined;
  readonly account: AccountState | undefined;
}

/** Refuses what neither the monthly quota nor points cover. What cannot be found out refuses nobody. */
export interface Quotas {
  /** Resolves, or is nothing at once, when the request is covered. */
  assertCovered(payer: Payer, hints: QuotaHints, model: string): Promise<void> | undefined;
  /** The same for a user who came with a JWT: by the window of everything that the user does, and their own wallet. */
  assertUserCovered(userId: string, model: string): Promise<void>;
}

interface QuotasDependencies {
  readonly store: AdmissionStore;
  readonly facts: Pick<BillingFacts, 'window' | 'account' | 'tierOf'>;
  readonly isPriced: (model: string) => boolean;
  readonly clock: Clock;
  readonly log: Log;
}

/** A database that does not answer for so long counts as away. */
const PATIENCE_MS = 500;
/** How long a database that was away is not asked again. */
const AWAY_PAUSE_MS = 2_000;

export function createQuotas(dependencies: QuotasDependencies): Quotas {
  const { store, facts, isPriced, clock, log } = dependencies;
  let awayUntil = 0;

  async function ask<Fact>(question: () => Promise<Fact>): Promise<Fact | undefined> {
    if (clock.now() < awayUntil) return undefined;
    try {
      return await answerWithin(question(), PATIENCE_MS);
    } catch (error) {
      awayUntil = clock.now() + AWAY_PAUSE_MS;
      log.warn(
        { reason: describeError(error) },
        'a quota could not be looked up: nobody is refused',
      );
      return undefined;
    }
  }

  function learn(
    windows: readonly (QuotaWindow & WindowUsage)[],
    accounts: readonly (DrawingAccount & AccountState)[],
  ) {
    store.learn({ windows, accounts }).catch((error: unknown) => {
      log.warn({ reason: describeError(error) }, 'a quota was looked up and could not be noted');
    });
  }

  async function askWindow(window: QuotaWindow): Promise<WindowUsage | undefined> {
    const usage = await ask(() => facts.window(window));
    if (usage !== undefined) learn([{ ...window, ...usage }], []);
    return usage;
  }

  async function askAccount(account: DrawingAccount): Promise<AccountState | undefined> {
    const state = await ask(() => facts.account(account));
    if (state !== undefined) learn([], [{ ...account, ...state }]);
    return state;
  }

  async function decide(payer: Payer, hints: QuotaHints, model: string): Promise<void> {
    const now = new Date(clock.now());
    const window = hints.window ?? (await askWindow(windowOf(payer, now)));
    if (window === undefined || !isDrained(payer.tier, window)) return;
    const account = hints.account ?? (await askAccount(drawingAccountOf(payer)));
    const { tier } = payer;
    const decision = decideAdmission({ tier, window, account, isPriced: isPriced(model), now });
    if (decision !== 'admit') throw refusal(decision, now);
  }

  function assertCovered(payer: Payer, hints: QuotaHints, model: string) {
    if (!hasQuota(payer.tier)) return undefined;
    if (hints.window !== undefined && !isDrained(payer.tier, hints.window)) return undefined;
    return decide(payer, hints, model);
  }

  return {
    assertCovered,
    async assertUserCovered(userId, model) {
      const tier = await ask(() => facts.tierOf(userId));
      if (tier === undefined || !hasQuota(tier)) return;
      const payer: Payer = { userId, keyId: null, project: null, groupId: null, tier };
      const answer = await store.admit({
        knownEpoch: Number.MAX_SAFE_INTEGER,
        limits: [],
        window: windowOf(payer, new Date(clock.now())),
        account: drawingAccountOf(payer),
      });
      const hints = answer.outcome === 'passed' ? answer : NO_HINTS;
      await assertCovered(payer, hints, model);
    },
  };
}

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
