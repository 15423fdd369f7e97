import type { BudgetPeriod } from '@model-gateway/contracts';

/** The usage that counts against the budget of a key: one period. */
export interface BudgetWindow {
  readonly keyId: string;
  readonly period: BudgetPeriod;
  /** The first day, UTC, `YYYY-MM-DD`. */
  readonly start: string;
}

/** When a period begins and ends, in milliseconds since the epoch. */
interface PeriodBounds {
  readonly startMs: number;
  /** Undefined for one that does not end. */
  readonly endMs: number | undefined;
}

const DAY_CHARS = 'YYYY-MM-DD'.length;
const DAY_MS = 24 * 60 * 60 * 1000;
const WEEK_DAYS = 7;
/** The first Monday after the beginning of 1970, which was a Thursday, in days. */
const FIRST_MONDAY = 4;

/** The window of a key's budget at a time. */
export const budgetWindowOf = (keyId: string, period: BudgetPeriod, now: Date): BudgetWindow => ({
  keyId,
  period,
  start: new Date(boundsOf(period, now).startMs).toISOString().slice(0, DAY_CHARS),
});

/** When the budget begins anew; null for one that never does. */
export function budgetResetOf(period: BudgetPeriod, now: Date): Date | null {
  const { endMs } = boundsOf(period, now);
  return endMs === undefined ? null : new Date(endMs);
}

function boundsOf(period: BudgetPeriod, now: Date): PeriodBounds {
  const day = Math.floor(now.getTime() / DAY_MS);
  switch (period) {
    case 'day':
      return { startMs: day * DAY_MS, endMs: (day + 1) * DAY_MS };
    case 'week': {
      const sinceMonday = (day - FIRST_MONDAY + WEEK_DAYS) % WEEK_DAYS;
      const monday = day - sinceMonday;
      return { startMs: monday * DAY_MS, endMs: (monday + WEEK_DAYS) * DAY_MS };
    }
    case 'month': {
      const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()];
      return { startMs: Date.UTC(year, month), endMs: Date.UTC(year, month + 1) };
    }
    case 'total':
      return { startMs: 0, endMs: undefined };
  }
}
