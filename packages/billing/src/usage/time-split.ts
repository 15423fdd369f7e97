/** From one time (inclusive) to another (exclusive); undefined without a bound. */
export interface TimeRange {
  readonly since?: Date | undefined;
  readonly until?: Date | undefined;
}

/** A time span with both ends: from `since` (inclusive) to `until` (exclusive). */
export interface TimeSpan {
  readonly since: Date;
  readonly until: Date;
}

/** A range in parts that do not overlap: whole UTC days, whole hours of the days at its ends, and the rest. */
export interface TimeSplit {
  /** Undefined when there is no whole day. */
  readonly days: TimeRange | undefined;
  /** Parts of days, at most two. */
  readonly edges: readonly TimeSpan[];
  /** The whole hours of the edges. */
  readonly hours: readonly TimeSpan[];
  /** The rest of the edges. */
  readonly rest: readonly TimeSpan[];
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Splits a range, so that most of it can be read from daily and hourly sums. */
export function splitTime(range: TimeRange): TimeSplit {
  const { whole: days, edges } = splitAt(range, DAY_MS);
  const parts = edges.map((edge) => splitAt(edge, HOUR_MS));
  return {
    days,
    edges,
    hours: parts.flatMap(({ whole }) => spanOf(whole?.since, whole?.until)),
    rest: parts.flatMap((part) => part.edges),
  };
}

/** Splits a range at the multiples of a unit. */
function splitAt(
  { since, until }: TimeRange,
  unitMs: number,
): { readonly whole: TimeRange | undefined; readonly edges: readonly TimeSpan[] } {
  const first = since === undefined ? undefined : rounded(since, unitMs, Math.ceil);
  const end = until === undefined ? undefined : rounded(until, unitMs, Math.floor);
  if (first === undefined || end === undefined || first < end) {
    return {
      whole: { since: first, until: end },
      edges: [...spanOf(since, first), ...spanOf(end, until)],
    };
  }
  // No whole unit: both ends are within one, or on either side of a single multiple.
  const isWithinOne = first > end;
  const edges = isWithinOne
    ? spanOf(since, until)
    : [...spanOf(since, first), ...spanOf(end, until)];
  return { whole: undefined, edges };
}

function spanOf(since: Date | undefined, until: Date | undefined): readonly TimeSpan[] {
  return since === undefined || until === undefined || since >= until ? [] : [{ since, until }];
}

const rounded = (moment: Date, unitMs: number, round: (value: number) => number): Date =>
  new Date(round(moment.getTime() / unitMs) * unitMs);
