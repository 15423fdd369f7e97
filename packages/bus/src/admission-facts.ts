import type {
  AccountRefusal,
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
      fact: `${window.version} ${window.costUsd} ${window.tokens}${refusalsText(window)}`,
      expiry: ['PXAT', String(endOfMonth(window.month) + WINDOW_KEPT_MS)],
    })),
    ...accounts.map((account): KeptFact => ({
      name: accountKey(account),
      fact: `${account.version} ${account.balance} ${account.hasHistory ? 1 : 0} ${account.increases}`,
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
  const [version, costUsd, tokens, refusals] = fact.split(' ');
  const usage = { version: Number(version), costUsd: Number(costUsd), tokens: Number(tokens) };
  return refusals === undefined ? usage : { ...usage, refusals: readRefusals(refusals) };
}

/** Of each refusal the name of the account, `=`, and how often its balance had grown. */
const refusalsText = ({ refusals = [] }: WindowUsage): string =>
  refusals.length === 0
    ? ''
    : ` ${refusals.map(({ account, increases }) => `${accountKey(account)}=${increases}`).join(',')}`;

const readRefusals = (text: string): readonly AccountRefusal[] =>
  text.split(',').map((refusal) => {
    const [name = '', increases] = refusal.split('=');
    const [, type, id = ''] = name.split(':');
    const account = { type: type === 'group' ? 'group' : 'user', id } as const;
    return { account, increases: Number(increases) };
  });

/** Undefined for what is not a fact. */
export function readAccount(fact: unknown): AccountState | undefined {
  if (typeof fact !== 'string') return undefined;
  const [version, balance, hasHistory, increases] = fact.split(' ');
  return {
    version: Number(version),
    balance: Number(balance),
    hasHistory: hasHistory === '1',
    increases: Number(increases),
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
