/** The largest of the positive numbers; undefined if there is none. */
export function largestCount(values: readonly unknown[]): number | undefined {
  let max = 0;
  for (const value of values) if (typeof value === 'number' && value > max) max = value;
  return max === 0 ? undefined : max;
}
