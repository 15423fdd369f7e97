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

/** The person whose account pays. */
export interface PayingUser {
  readonly email: string;
  readonly isAdmin: boolean;
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
  /** The account of a user, which refusals name; undefined for an erased one. */
  payingUser(userId: string): Promise<PayingUser | undefined>;
  /** Everything that changed since then, a page at a time: windows of that month and of later ones, accounts, and current budgets. */
  changedSince(time: Date): AsyncIterable<AdmissionFacts>;
}
