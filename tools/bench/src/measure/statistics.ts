/** The numbers of one measurement, by name. */
export type Sample = Readonly<Record<string, number>>;

/** The value below which this share of the numbers is; NaN without numbers. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.filter(Number.isFinite).toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
}

/** The median of the numbers. */
export const median = (values: readonly number[]): number => quantile(values, 0.5);

/** The median of each number of some measurements. */
export function medians(samples: readonly Sample[]): Sample {
  const names = Object.keys(samples[0] ?? {});
  return Object.fromEntries(
    names.map((name) => [name, median(samples.map((sample) => sample[name] ?? NaN))]),
  );
}
