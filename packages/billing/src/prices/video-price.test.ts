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
