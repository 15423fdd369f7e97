import type { QuotaWindow } from './admission-store.ts';

/** Keys with this label share the window of the whole user. */
const DEFAULT_PROJECT = 'default';
const MONTH_CHARS = 'YYYY-MM'.length;
const MS_PER_SECOND = 1000;

/** The owner of usage, from a request or a usage event. */
export interface UsageOwner {
  readonly userId: string;
  /** Null for requests with a JWT. */
  readonly keyId: string | null;
  readonly project: string | null;
}

/** The last result: nearly every request is in the same month as the one before it. */
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

/** The window that limits a request: its key's project if that has its own window, otherwise the whole user. */
export function windowOf(owner: UsageOwner, moment: Date): QuotaWindow {
  const { userId, keyId, project } = owner;
  const isLabelled = keyId !== null && project !== null && project !== DEFAULT_PROJECT;
  return { userId, project: isLabelled ? project : null, month: monthOf(moment) };
}

/** The windows that a request counts in: first the one that limits it, and always that of the whole user. */
export function windowsOf(
  owner: UsageOwner,
  moment: Date,
): readonly [limiting: QuotaWindow, ...others: QuotaWindow[]] {
  const limiting = windowOf(owner, moment);
  return limiting.project === null ? [limiting] : [limiting, { ...limiting, project: null }];
}

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
export const windowName = ({ userId, project, month }: QuotaWindow): string =>
  JSON.stringify([userId, month, project]);
