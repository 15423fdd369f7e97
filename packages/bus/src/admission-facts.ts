import type {
  AccountState,
  AdmissionFacts,
  BudgetUsage,
  BudgetWindow,
  DrawingAccount,
  QuotaWindow,
  WindowUsage,
} from '@model-gateway/billing';
import { tryParse } from '@model-gateway/kernel';
import { z } from 'zod';

/** A fact as it is stored on Redis: JSON with its version, and its expiry. */
export interface KeptFact {
  readonly name: string;
  readonly fact: string;
  readonly version: number;
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
  const factOf = (
    name: string,
    fact: WindowUsage | AccountState | BudgetUsage,
    expiry: KeptFact['expiry'],
  ): KeptFact => ({ name, fact: JSON.stringify(fact), version: fact.version, expiry });
  return [
    ...windows.map(({ userId, month, ...usage }) => {
      const expiresAt = endOfMonth(month) + WINDOW_KEPT_MS;
      return factOf(windowKey({ userId, month }), usage, ['PXAT', String(expiresAt)]);
    }),
    ...accounts.map(({ type, id, ...state }) =>
      factOf(accountKey({ type, id }), state, ['PX', String(ACCOUNT_KEPT_MS)]),
    ),
    ...budgets.map(({ costUsd, version, ...budget }) =>
      factOf(budgetKey(budget), { costUsd, version }, ['PX', String(BUDGET_KEPT_MS)]),
    ),
  ];
}

const budgetFact = z.object({ costUsd: z.number(), version: z.number() });
const accountType = z.enum(['user', 'group']);
const refusal = z.object({
  account: z.object({ type: accountType, id: z.string() }),
  increases: z.number(),
});
const windowFact = budgetFact.extend({ tokens: z.number(), refusals: z.array(refusal).optional() });
const accountFact = z.object({
  balance: z.number(),
  hasHistory: z.boolean(),
  increases: z.number(),
  version: z.number(),
});

/** Undefined for what is not a fact. */
export const readWindow = (fact: unknown): WindowUsage | undefined => read(windowFact, fact);

/** Undefined for what is not a fact. */
export const readAccount = (fact: unknown): AccountState | undefined => read(accountFact, fact);

/** Undefined for what is not a fact. */
export const readBudget = (fact: unknown): BudgetUsage | undefined => read(budgetFact, fact);

const read = <Fact>(schema: z.ZodType<Fact>, fact: unknown): Fact | undefined =>
  typeof fact === 'string' ? tryParse(schema, fact) : undefined;

/** When the month is over, in milliseconds since the epoch. */
function endOfMonth(month: string): number {
  const [year, number] = month.split('-');
  return Date.UTC(Number(year), Number(number));
}
