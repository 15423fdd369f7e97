/** A line through samples by least squares, and whether they grow. */
export interface Slope {
  readonly first: number;
  readonly last: number;
  /** The growth of the line over all samples, in their unit. */
  readonly growth: number;
  /** The standard deviation of the samples from the line. */
  readonly noise: number;
  readonly isGrowing: boolean;
}

/** The slope must be this many of its standard errors, so that a random order of the same samples hardly ever grows. */
const ERRORS_MIN = 4;
/** Compiled code grows for longer than a run takes: a smaller part of the mean than this is no leak that a run could show. */
const GROWTH_SHARE_MIN = 0.1;
const SAMPLES_MIN = 5;

/** Fits samples that were taken at equal distances; a growth up to the limit counts as none. */
export function fitSlope(samples: readonly number[], growthMax = 0): Slope {
  const count = samples.length;
  const mean = samples.reduce((sum, value) => sum + value, 0) / count;
  const middle = (count - 1) / 2;
  const spread = samples.reduce((sum, _, index) => sum + (index - middle) ** 2, 0);
  const slope =
    samples.reduce((sum, value, index) => sum + (index - middle) * (value - mean), 0) / spread;
  const squares = samples.reduce(
    (sum, value, index) => sum + (value - mean - slope * (index - middle)) ** 2,
    0,
  );
  const noise = Math.sqrt(squares / Math.max(1, count - 2));
  const growth = slope * (count - 1);
  const isSteep = slope > (ERRORS_MIN * noise) / Math.sqrt(spread);
  return {
    first: samples[0] ?? Number.NaN,
    last: samples.at(-1) ?? Number.NaN,
    growth,
    noise,
    isGrowing:
      count >= SAMPLES_MIN &&
      isSteep &&
      growth > Math.max(growthMax, GROWTH_SHARE_MIN * Math.abs(mean)),
  };
}
