export type VideoPriceMode = 'per_call' | 'per_second_resolution' | 'per_frame';

/** The video price of a model, in USD. */
export interface VideoPrice {
  readonly mode: VideoPriceMode;
  readonly basePrice: number;
  readonly pricePerSecond: number;
  readonly pricePerFrame: number;
  /** Multipliers by short side in pixels, `*` for any other. */
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
const WIDTH_PIXELS_DEFAULT = 1280;
const HEIGHT_PIXELS_DEFAULT = 720;
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

function coefficientOf({ resolutionCoeff }: VideoPrice, video: VideoShape): number {
  const { width = WIDTH_PIXELS_DEFAULT, height = HEIGHT_PIXELS_DEFAULT } = video;
  const shortSide = String(Math.min(width, height));
  return own(resolutionCoeff, shortSide) ?? own(resolutionCoeff, ANY_SHORT_SIDE) ?? 1;
}

const own = (table: Readonly<Record<string, number>>, key: string): number | undefined =>
  Object.hasOwn(table, key) ? table[key] : undefined;
