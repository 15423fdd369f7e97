import type { QuotaWindow } from './admission-store.ts';

const MONTH_CHARS = 'YYYY-MM'.length;
const MS_PER_SECOND = 1000;

/** Keeps the last result: nearly every request is in the same month as the one before it. */
let latest = { from: 0, until: 0, name: '' };

/** The UTC month of a time, `YYYY-MM`. */
export function monthOf(moment: Date): string {
  const time = moment.getTime();
  if (time < latest.from || time >= latest.until) {
    latest = {
      from: monthStart(moment).getTime(),
      until: nextMonthStart(moment).getTime(),
      name: moment.toISOString().slice(0, MONTH_CHARS),
    };
  }
  return latest.name;
}

/** The window that limits a request of a user, whichever key or project label it has. */
export const windowOf = (userId: string, moment: Date): QuotaWindow => ({
  userId,
  month: monthOf(moment),
});

/** The first moment of a UTC month. */
export function monthStart(moment: Date): Date {
  return new Date(Date.UTC(moment.getUTCFullYear(), moment.getUTCMonth(), 1));
}

/** The first moment of the next UTC month. */
export function nextMonthStart(moment: Date): Date {
  return new Date(Date.UTC(moment.getUTCFullYear(), moment.getUTCMonth() + 1, 1));
}

/** `Retry-After` of a quota answer: whole seconds, after which the next month has begun. */
export function secondsToNextMonth(now: Date): number {
  return Math.ceil((nextMonthStart(now).getTime() - now.getTime()) / MS_PER_SECOND);
}

/** One text per window, the same for equal windows. */
export const windowName = ({ userId, month }: QuotaWindow): string => `${month} ${userId}`;
