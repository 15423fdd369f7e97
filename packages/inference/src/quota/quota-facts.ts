import type {
  AccountState,
  AdmissionStore,
  BillingFacts,
  BudgetUsage,
  BudgetWindow,
  DrawingAccount,
  PayingUser,
  QuotaWindow,
  TierLimits,
  WindowUsage,
} from '@model-gateway/billing';
import { ServiceError } from '@model-gateway/contracts';
import { describeError, withTimeout, type Clock, type Log } from '@model-gateway/kernel';
import { LRUCache } from 'lru-cache';

export type ReadableFacts = Pick<
  BillingFacts,
  'window' | 'account' | 'budget' | 'tierOf' | 'payingUser'
>;

/** Quotas read from the database; undefined while it is unavailable or too slow. Results become hints for the next request. */
export interface QuotaFacts {
  window(window: QuotaWindow): Promise<WindowUsage | undefined>;
  account(account: DrawingAccount): Promise<AccountState | undefined>;
  budget(window: BudgetWindow): Promise<BudgetUsage | undefined>;
  /** The last known tier while the database is unavailable. Rejects if none is known and the database is too slow. */
  tierOf(userId: string): Promise<TierLimits | undefined>;
  payingUser(userId: string): Promise<PayingUser | undefined>;
}

interface QuotaFactsDependencies {
  readonly store: Pick<AdmissionStore, 'updateHints'>;
  readonly facts: ReadableFacts;
  readonly clock: Clock;
  readonly log: Log;
}

/** After this time without a response the database counts as unavailable. On a busy machine a query takes seconds. */
const LOOKUP_TIMEOUT_MS = 5_000;
const TIERS_MAX = 20_000;
/** How long an unavailable database is not queried again. */
const UNAVAILABLE_PAUSE_MS = 2_000;

export function createQuotaFacts({ store, facts, clock, log }: QuotaFactsDependencies): QuotaFacts {
  const tiers = new LRUCache<string, TierLimits>({ max: TIERS_MAX });
  let unavailableUntil = 0;

  /** An answer that comes too late for this request is kept for the next one. */
  async function ask<Fact>(
    question: () => Promise<Fact>,
    keep: (fact: Fact) => void,
  ): Promise<Fact | undefined> {
    if (clock.now() < unavailableUntil) return undefined;
    try {
      return await withTimeout(kept(question(), keep), LOOKUP_TIMEOUT_MS);
    } catch (error) {
      pauseReading(error, 'reading a quota failed; the request is decided by what is in progress');
      return undefined;
    }
  }

  async function tierOf(userId: string): Promise<TierLimits | undefined> {
    try {
      const question = kept(facts.tierOf(userId), (tier) => void tiers.set(userId, tier));
      const tier = await withTimeout(question, LOOKUP_TIMEOUT_MS, () => undefined);
      if (tier !== undefined) return tier;
    } catch (error) {
      pauseReading(error, 'reading a tier failed; the last known one is used');
      return tiers.get(userId);
    }
    const known = tiers.get(userId);
    if (known !== undefined) return known;
    // A slow database is no reason to serve without a quota.
    throw new ServiceError('store_unavailable', 'the database is not available');
  }

  function pauseReading(error: unknown, message: string): void {
    unavailableUntil = clock.now() + UNAVAILABLE_PAUSE_MS;
    log.warn({ reason: describeError(error) }, message);
  }

  function updateHints(
    windows: readonly (QuotaWindow & WindowUsage)[],
    accounts: readonly (DrawingAccount & AccountState)[],
    budgets: readonly (BudgetWindow & BudgetUsage)[] = [],
  ) {
    store
      .updateHints({ windows, accounts, ...(budgets.length === 0 ? {} : { budgets }) })
      .catch((error: unknown) => {
        log.warn({ reason: describeError(error) }, 'storing quota hints failed');
      });
  }

  return {
    window: (window) =>
      ask(
        () => facts.window(window),
        (usage) => updateHints([{ ...window, ...usage }], []),
      ),
    account: (account) =>
      ask(
        () => facts.account(account),
        (state) => updateHints([], [{ ...account, ...state }]),
      ),
    budget: (window) =>
      ask(
        () => facts.budget(window),
        (usage) => updateHints([], [], [{ ...window, ...usage }]),
      ),
    tierOf,
    payingUser: (userId) =>
      ask(
        () => facts.payingUser(userId),
        () => undefined,
      ),
  };
}

async function kept<Fact>(answer: Promise<Fact>, keep: (fact: Fact) => void): Promise<Fact> {
  const fact = await answer;
  keep(fact);
  return fact;
}
