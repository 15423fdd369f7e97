import { invalidParam, type BudgetPeriod } from '@model-gateway/contracts';

/** What the owner of a key sets. Null does not limit, and neither does an empty list. */
export interface KeySettings {
  readonly expiresAt: Date | null;
  readonly budgetUsd: number | null;
  /** Null without a budget. */
  readonly budgetPeriod: BudgetPeriod | null;
  /** Requests per minute. */
  readonly rpm: number | null;
  /** Tokens per minute. */
  readonly tpm: number | null;
  /** Names that may contain `*`. */
  readonly models: readonly string[];
  /** Client addresses, in CIDR notation. */
  readonly addresses: readonly string[];
  readonly metadata: Readonly<Record<string, unknown>> | null;
  /** Whether bodies are logged; null: as the service is configured. */
  readonly logBodies: boolean | null;
  /** How long answers are cached; null: not at all. */
  readonly cacheTtlSecs: number | null;
}

/** Settings that a request changes; the others stay as they are. */
export type KeySettingChanges = {
  readonly [Name in keyof KeySettings]?: KeySettings[Name] | undefined;
};

/** A key as it is created without any settings. */
export const NO_KEY_SETTINGS: KeySettings = {
  expiresAt: null,
  budgetUsd: null,
  budgetPeriod: null,
  rpm: null,
  tpm: null,
  models: [],
  addresses: [],
  metadata: null,
  logBodies: null,
  cacheTtlSecs: null,
};

const BUDGET_PERIOD_DEFAULT: BudgetPeriod = 'month';

/** The settings after a change. A budget has a period, and a period a budget. */
export function changedSettings(
  current: KeySettings,
  changes: KeySettingChanges,
  now: number,
): KeySettings {
  const { expiresAt, budgetPeriod } = changes;
  if (expiresAt && expiresAt.getTime() <= now) {
    throw invalidParam('expires_at', 'must be in the future');
  }
  const given = Object.entries(changes).filter(([, value]) => value !== undefined);
  const merged: KeySettings = { ...current, ...Object.fromEntries(given) };
  if (merged.budgetUsd !== null) {
    return { ...merged, budgetPeriod: merged.budgetPeriod ?? BUDGET_PERIOD_DEFAULT };
  }
  if (budgetPeriod) {
    throw invalidParam('budget_period', "needs 'budget_usd'");
  }
  return { ...merged, budgetPeriod: null };
}
