import type {
  AccountState,
  AdmissionStore,
  BillingFacts,
  BudgetUsage,
  BudgetWindow,
  DrawingAccount,
  QuotaWindow,
  TierLimits,
  WindowUsage,
} from '@model-gateway/billing';
import { describeError, withTimeout, type Clock, type Log } from '@model-gateway/kernel';

export type ReadableFacts = Pick<BillingFacts, 'window' | 'account' | 'budget' | 'tierOf'>;

/** Quotas read from the database; undefined while it is unavailable. Results become hints for the next request. */
export interface QuotaFacts {
  window(window: QuotaWindow): Promise<WindowUsage | undefined>;
  account(account: DrawingAccount): Promise<AccountState | undefined>;
  budget(window: BudgetWindow): Promise<BudgetUsage | undefined>;
  tierOf(userId: string): Promise<TierLimits | undefined>;
}

interface QuotaFactsDependencies {
  readonly store: Pick<AdmissionStore, 'updateHints'>;
  readonly facts: ReadableFacts;
  readonly clock: Clock;
  readonly log: Log;
}

/** After this time without a response the database counts as unavailable. */
const LOOKUP_TIMEOUT_MS = 1_000;
/** How long an unavailable database is not queried again. */
const UNAVAILABLE_PAUSE_MS = 2_000;

export function createQuotaFacts({ store, facts, clock, log }: QuotaFactsDependencies): QuotaFacts {
  let unavailableUntil = 0;

  async function ask<Fact>(question: () => Promise<Fact>): Promise<Fact | undefined> {
    if (clock.now() < unavailableUntil) return undefined;
    try {
      return await withTimeout(question(), LOOKUP_TIMEOUT_MS);
    } catch (error) {
      unavailableUntil = clock.now() + UNAVAILABLE_PAUSE_MS;
      log.warn({ reason: describeError(error) }, 'quota lookup failed; the request is allowed');
      return undefined;
    }
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
    async window(window) {
      const usage = await ask(() => facts.window(window));
      if (usage !== undefined) updateHints([{ ...window, ...usage }], []);
      return usage;
    },
    async account(account) {
      const state = await ask(() => facts.account(account));
      if (state !== undefined) updateHints([], [{ ...account, ...state }]);
      return state;
    },
    async budget(window) {
      const usage = await ask(() => facts.budget(window));
      if (usage !== undefined) updateHints([], [], [{ ...window, ...usage }]);
      return usage;
    },
    tierOf: (userId) => ask(() => facts.tierOf(userId)),
  };
}
