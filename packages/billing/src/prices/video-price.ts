import { shortSideOf, submittedResolution } from '@model-gateway/contracts';

export type VideoPriceMode = 'per_call' | 'per_second_resolution' | 'per_frame';

/** The video price of a model, in USD. */
export interface VideoPrice {
  readonly mode: VideoPriceMode;
  readonly basePrice: number;
  readonly pricePerSecond: number;
  readonly pricePerFrame: number;
  /** Multipliers by short side in pixels, `*` for smaller ones than these. */
  readonly resolutionCoeff: Readonly<Record<string, number>>;
}

/** The requested size and length; missing fields have defaults. */
export interface VideoShape {
  readonly durationSeconds?: number | undefined;
  readonly width?: number | undefined;
  readonly height?: number | undefined;
  readonly frames?: number | undefined;
}

const DURATION_SECONDS_DEFAULT = 5;
const FRAMES_PER_SECOND = 24;
const ANY_SHORT_SIDE = '*';

/** The video price of a model without its own price. */
export const FALLBACK_VIDEO_PRICE: VideoPrice = {
  mode: 'per_second_resolution',
  basePrice: 0,
  pricePerSecond: 0.005,
  pricePerFrame: 0,
  resolutionCoeff: { [ANY_SHORT_SIDE]: 1 },
};

/** The cost of a video in USD, by the price of its model. */
export function videoCostOf(configured: VideoPrice | undefined, video: VideoShape): number {
  const price = configured ?? FALLBACK_VIDEO_PRICE;
  const duration = video.durationSeconds ?? DURATION_SECONDS_DEFAULT;
  switch (price.mode) {
    case 'per_call':
      return price.basePrice;
    case 'per_second_resolution':
      return price.basePrice + duration * price.pricePerSecond * coefficientOf(price, video);
    case 'per_frame':
      return price.basePrice + framesOf(duration, video) * price.pricePerFrame;
  }
}

/** False for more frames than a price by the second pays for. */
export function paysForFrames(
  { mode }: VideoPrice = FALLBACK_VIDEO_PRICE,
  { durationSeconds = DURATION_SECONDS_DEFAULT, frames = 0 }: VideoShape,
): boolean {
  return mode !== 'per_second_resolution' || frames <= durationSeconds * FRAMES_PER_SECOND;
}

/** A request for fewer frames than its duration has does not make the video cheaper. */
const framesOf = (duration: number, { frames = 0 }: VideoShape): number =>
  Math.max(frames, duration * FRAMES_PER_SECOND);

/**
 * The coefficient of what is made: of a side between two configured ones that of the larger, above all of them that of the
 * largest; never less than that of the resolution which a cloud video API is asked for.
 */
function coefficientOf({ resolutionCoeff }: VideoPrice, video: VideoShape): number {
  const side = shortSideOf(video);
  const sides = Object.keys(resolutionCoeff)
    .filter((name) => name !== ANY_SHORT_SIDE)
    .map(Number)
    .toSorted((left, right) => left - right);
  const atSide = (configured: number | undefined): number | undefined =>
    configured === undefined ? undefined : own(resolutionCoeff, String(configured));
  const upTo = (largest: number): number | undefined =>
    atSide(sides.findLast((configured) => configured <= largest));
  const submitted = upTo(submittedResolution(video).shortSide);
  const other = own(resolutionCoeff, ANY_SHORT_SIDE);
  const exact = atSide(sides.find((configured) => configured === side));
  const next = atSide(sides.find((configured) => configured > side));
  const asked = isBelowAll(side, sides) ? [other] : [upTo(side), next];
  const coefficients = [submitted, ...(exact === undefined ? asked : [exact])];
  const known = coefficients.filter((coefficient) => coefficient !== undefined);
  return known.length > 0 ? Math.max(...known) : (other ?? 1);
}

/** Encoders round sides to as many pixels. */
const ROUNDED_PIXELS = 16;

/** Whether a side is smaller than the first configured one, also when it is rounded. */
const isBelowAll = (side: number, [first = 0]: readonly number[]): boolean =>
  side <= first - ROUNDED_PIXELS;

const own = (table: Readonly<Record<string, number>>, key: string): number | undefined =>
  Object.hasOwn(table, key) ? table[key] : undefined;
