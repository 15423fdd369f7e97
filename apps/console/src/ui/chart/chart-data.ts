/** One line of a chart, or one color of its bars. */
export interface ChartSeries {
  readonly name: string;
  /** One for each time; null where there is none. */
  readonly values: readonly (number | null)[];
  /** Whether it is everything that has no series of its own. */
  readonly isRest?: boolean;
}

/** What a number of a chart means. */
export type ChartUnit = 'count' | 'money' | 'duration';

/** At most this many names; the rest is one series, "other". */
export const SERIES_MAX = 7;

/**
 * The heights of stacked bars, the whole bar first: each series is painted over the one before, so that only its own
 * part of that one stays visible.
 */
export function stackedValues(series: readonly ChartSeries[]): readonly (readonly number[])[] {
  const sums: number[] = [];
  const stacked = series.map(({ values }) =>
    values.map((value, index) => {
      const sum = (sums[index] ?? 0) + (value ?? 0);
      sums[index] = sum;
      return sum;
    }),
  );
  return stacked.toReversed();
}

/** The place of the last time that is not after the given one; the first when all are. */
export function bucketAt(times: readonly number[], time: number): number {
  const after = times.findIndex((start) => start > time);
  return Math.max(0, (after === -1 ? times.length : after) - 1);
}

/** The steps of an axis that counts things: there is no half request. */
export const WHOLE_STEPS: readonly number[] = Array.from({ length: 13 }, (_, power) =>
  [1, 2, 5].map((factor) => factor * 10 ** power),
).flat();
