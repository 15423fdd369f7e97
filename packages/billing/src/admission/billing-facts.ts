import type {
  AccountState,
  AdmissionFacts,
  BudgetUsage,
  DrawingAccount,
  QuotaWindow,
  WindowUsage,
} from './admission-store.ts';
import type { BudgetWindow } from './budget-window.ts';

/** The limits of a tier; null means unlimited. */
export interface TierLimits {
  readonly name: string;
  readonly monthlyUsdQuota: number | null;
  readonly monthlyTokenQuota: number | null;
  readonly rpm: number | null;
}

/** The values in the database behind the hints of the admission store. */
export interface BillingFacts {
  /** A window without rows is all zeros. */
  window(window: QuotaWindow): Promise<WindowUsage>;
  /** An account that does not exist is empty, without history, version 0. */
  account(account: DrawingAccount): Promise<AccountState>;
  /** A period without rows is all zeros. */
  budget(window: BudgetWindow): Promise<BudgetUsage>;
  /** The tier of a user, `free` where none is set. */
  tierOf(userId: string): Promise<TierLimits>;
  /** Everything that changed since then, a page at a time: windows of that month and of later ones, accounts, and current budgets. */
  changedSince(time: Date): AsyncIterable<AdmissionFacts>;
}
