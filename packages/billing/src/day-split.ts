/** From a moment on, and before another; undefined where there is no bound. */
export interface TimeRange {
  readonly since?: Date | undefined;
  readonly until?: Date | undefined;
}

/** A stretch of time with both ends: from `since` on, before `until`. */
export interface TimeSpan {
  readonly since: Date;
  readonly until: Date;
}

/** A range as whole UTC days and what is left of the days at its ends. */
export interface DaySplit {
  /** From the start of a day on, and before the start of another. Undefined when there is no whole day. */
  readonly days: TimeRange | undefined;
  /** Parts of days, at most two. */
  readonly edges: readonly TimeSpan[];
}

const DAY_MS = 86_400_000;

/** Splits a range at midnights, so that whole days can be answered from what is kept by day. */
export function splitByDay({ since, until }: TimeRange): DaySplit {
  if (since !== undefined && until !== undefined && since >= until)
    return { days: undefined, edges: [] };
  const firstDay = since === undefined ? undefined : midnightFrom(since);
  const endDay = until === undefined ? undefined : midnightBefore(until);
  if (firstDay !== undefined && endDay !== undefined && firstDay > endDay) {
    // Both ends lie within one day.
    return { days: undefined, edges: edge(since, until) };
  }
  const hasDays = firstDay === undefined || endDay === undefined || firstDay < endDay;
  return {
    days: hasDays ? { since: firstDay, until: endDay } : undefined,
    edges: [...edge(since, firstDay), ...edge(endDay, until)],
  };
}

function edge(since: Date | undefined, until: Date | undefined): readonly TimeSpan[] {
  return since === undefined || until === undefined || since >= until ? [] : [{ since, until }];
}

const midnightBefore = (moment: Date): Date =>
  new Date(Math.floor(moment.getTime() / DAY_MS) * DAY_MS);

const midnightFrom = (moment: Date): Date =>
  new Date(Math.ceil(moment.getTime() / DAY_MS) * DAY_MS);
