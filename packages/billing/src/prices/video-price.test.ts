import * as fc from 'fast-check';
import { FALLBACK_VIDEO_PRICE, videoCostOf, type VideoPrice } from './video-price.ts';

const price = (values: Partial<VideoPrice>): VideoPrice => ({
  mode: 'per_second_resolution',
  basePrice: 0.5,
  pricePerSecond: 0.1,
  pricePerFrame: 0.01,
  resolutionCoeff: { '720': 1.5, '1080': 2, '*': 3 },
  ...values,
});

test.each([
  { why: 'a call', price: price({ mode: 'per_call' }), video: { durationSeconds: 60 }, usd: 0.5 },
  { why: 'seconds of the default size', price: price({}), video: {}, usd: 0.5 + 5 * 0.1 * 1.5 },
  {
    why: 'seconds by the short side, upright too',
    price: price({}),
    video: { durationSeconds: 10, width: 1080, height: 1920 },
    usd: 0.5 + 10 * 0.1 * 2,
  },
  {
    why: 'seconds of a size that only the star covers',
    price: price({}),
    video: { durationSeconds: 2, width: 640, height: 480 },
    usd: 0.5 + 2 * 0.1 * 3,
  },
  {
    why: 'seconds of a size that nothing covers',
    price: price({ resolutionCoeff: { '720': 9 } }),
    video: { durationSeconds: 2, width: 640, height: 480 },
    usd: 0.5 + 2 * 0.1,
  },
  {
    why: 'frames, 24 a second',
    price: price({ mode: 'per_frame' }),
    video: { durationSeconds: 2 },
    usd: 0.5 + 48 * 0.01,
  },
  {
    why: 'frames as asked for',
    price: price({ mode: 'per_frame' }),
    video: { durationSeconds: 2, frames: 81 },
    usd: 0.5 + 81 * 0.01,
  },
  {
    why: 'no fewer frames than the duration has',
    price: price({ mode: 'per_frame' }),
    video: { durationSeconds: 2, frames: 1 },
    usd: 0.5 + 48 * 0.01,
  },
  { why: 'the fallback', price: undefined, video: { durationSeconds: 8 }, usd: 8 * 0.005 },
])('a video costs by $why: $usd', ({ price: row, video, usd }) => {
  expect(videoCostOf(row, video)).toBe(usd);
});

test('the fallback is a per-second price of half a cent for every size', () => {
  expect(FALLBACK_VIDEO_PRICE).toMatchObject({
    pricePerSecond: 0.005,
    resolutionCoeff: { '*': 1 },
  });
});

const sized = (coefficients: Readonly<Record<string, number>>, side: number): number =>
  videoCostOf(price({ basePrice: 0, pricePerSecond: 1, resolutionCoeff: coefficients }), {
    durationSeconds: 1,
    width: 4096,
    height: side,
  });

test.each([
  { why: 'a configured side', side: 720, coefficient: 1 },
  { why: 'a side between two', side: 900, coefficient: 4 },
  { why: 'one pixel less than a side', side: 1079, coefficient: 4 },
  { why: 'one pixel more', side: 721, coefficient: 4 },
  { why: 'more than the largest', side: 4096, coefficient: 4 },
  { why: 'less than the smallest', side: 300, coefficient: 7 },
  { why: 'one pixel less than the smallest', side: 479, coefficient: 0.5 },
])('$why has the coefficient $coefficient', ({ side, coefficient }) => {
  expect(sized({ '480': 0.5, '720': 1, '1080': 4, '*': 7 }, side)).toBe(coefficient);
});

test('a side that is made in a dearer resolution has its coefficient', () => {
  expect(sized({ '960': 1, '1080': 4 }, 950)).toBe(4);
});

test('one pixel beside a priced side never costs less', () => {
  // Sides of which none is beside another.
  const side = fc.integer({ min: 22, max: 1364 }).map((third) => third * 3);
  const coefficient = fc.double({ min: 0, max: 9, noNaN: true });
  fc.assert(
    fc.property(fc.array(fc.tuple(side, coefficient), { minLength: 1 }), (configured) => {
      const coefficients: Record<string, number> = {
        '*': 0,
        ...Object.fromEntries(configured),
      };
      const cheaper = configured.filter(([at]) => {
        const least = Math.min(sized(coefficients, at - 1), sized(coefficients, at + 1));
        return least < (coefficients[String(at)] ?? 0);
      });
      expect(cheaper).toEqual([]);
    }),
  );
});
