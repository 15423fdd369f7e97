const EDGE = 2;

/** The points of a line through values, from left to right, with zero at the bottom. */
export function linePoints(values: readonly number[], width: number, height: number): string {
  const top = Math.max(...values, 1);
  const step = values.length < 2 ? 0 : (width - 2 * EDGE) / (values.length - 1);
  const all = values.length === 1 ? [...values, ...values] : values;
  return all
    .map((value, index) => {
      const x = EDGE + (values.length === 1 ? index * (width - 2 * EDGE) : index * step);
      const y = height - EDGE - (value / top) * (height - 2 * EDGE);
      return `${round(x)},${round(y)}`;
    })
    .join(' ');
}

const round = (value: number): number => Math.round(value * 10) / 10;
