import type {
  AccountState,
  AdmissionFacts,
  BudgetUsage,
  BudgetWindow,
  DrawingAccount,
  QuotaWindow,
  WindowUsage,
} from '@model-gateway/billing';

/** A fact as it is stored on Redis: a line that begins with its version, and its expiry. */
export interface KeptFact {
  readonly name: string;
  readonly fact: string;
  readonly expiry: readonly [how: 'PX' | 'PXAT', milliseconds: string];
}

const DAY_MS = 24 * 60 * 60 * 1000;
const WINDOW_KEPT_MS = 2 * DAY_MS;
const ACCOUNT_KEPT_MS = 3 * DAY_MS;
const BUDGET_KEPT_MS = 3 * DAY_MS;

/** The name of a window's fact. */
export const windowKey = ({ userId, month }: QuotaWindow): string => `window:${month}:${userId}`;

/** The name of an account's fact. */
export const accountKey = ({ type, id }: DrawingAccount): string => `account:${type}:${id}`;

/** The name of the fact of a budget. */
export const budgetKey = ({ keyId, period, start }: BudgetWindow): string =>
  `budget:${period}:${start}:${keyId}`;

/** Facts as they are stored on Redis: of a window until some days after its month, of an account or a budget for some days. */
export function keptFacts({
  windows,
  accounts,
  budgets = [],
}: AdmissionFacts): readonly KeptFact[] {
  return [
    ...windows.map((window): KeptFact => ({
      name: windowKey(window),
      fact: `${window.version} ${window.costUsd} ${window.tokens}`,
      expiry: ['PXAT', String(endOfMonth(window.month) + WINDOW_KEPT_MS)],
    })),
    ...accounts.map((account): KeptFact => ({
      name: accountKey(account),
      fact: `${account.version} ${account.balance} ${account.hasHistory ? 1 : 0} ${account.refusedUntil?.getTime() ?? ''}`,
      expiry: ['PX', String(ACCOUNT_KEPT_MS)],
    })),
    ...budgets.map((budget): KeptFact => ({
      name: budgetKey(budget),
      fact: `${budget.version} ${budget.costUsd}`,
      expiry: ['PX', String(BUDGET_KEPT_MS)],
    })),
  ];
}

/** Undefined for what is not a fact. */
export function readWindow(fact: unknown): WindowUsage | undefined {
  if (typeof fact !== 'string') return undefined;
  const [version, costUsd, tokens] = fact.split(' ');
  return { version: Number(version), costUsd: Number(costUsd), tokens: Number(tokens) };
}

/** Undefined for what is not a fact. */
export function readAccount(fact: unknown): AccountState | undefined {
  if (typeof fact !== 'string') return undefined;
  const [version, balance, hasHistory, refusedUntil = ''] = fact.split(' ');
  return {
    version: Number(version),
    balance: Number(balance),
    hasHistory: hasHistory === '1',
    refusedUntil: refusedUntil === '' ? null : new Date(Number(refusedUntil)),
  };
}

/** Undefined for what is not a fact. */
export function readBudget(fact: unknown): BudgetUsage | undefined {
  if (typeof fact !== 'string') return undefined;
  const [version, costUsd] = fact.split(' ');
  return { version: Number(version), costUsd: Number(costUsd) };
}

/** When the month is over, in milliseconds since the epoch. */
function endOfMonth(month: string): number {
  const [year, number] = month.split('-');
  return Date.UTC(Number(year), Number(number));
}
