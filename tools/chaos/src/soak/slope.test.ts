import { randomFrom } from '@model-gateway/testkit';
import { fitSlope } from './slope.ts';

const SAMPLES = 30;
const series = (value: (index: number) => number): readonly number[] =>
  Array.from({ length: SAMPLES }, (_, index) => value(index));

test('a steady leak below the noise of a single sample is found', () => {
  const random = randomFrom(1);
  expect(fitSlope(series((index) => 100 + index + random() * 5)).isGrowing).toBe(true);
});

test('noise around a value is no growth, whatever the seed', () => {
  for (let seed = 0; seed < 500; seed += 1) {
    const random = randomFrom(seed);
    expect(fitSlope(series(() => 100 + random() * 40)).isGrowing).toBe(false);
  }
});

test('a value that falls, or never changes, or grows by less than a tenth, is no growth', () => {
  expect(fitSlope(series((index) => 100 - index)).isGrowing).toBe(false);
  expect(fitSlope(series(() => 0)).isGrowing).toBe(false);
  expect(fitSlope(series((index) => 1_000 + 3 * index)).isGrowing).toBe(false);
});

test('a growth within its limit is none, and one beyond it is found', () => {
  const opened = series((index) => 18 + Math.floor(index / 9));
  expect(fitSlope(opened, 12).isGrowing).toBe(false);
  expect(fitSlope(opened, 2).isGrowing).toBe(true);
});

test('the growth of the line is in the unit of the samples', () => {
  expect(fitSlope([1, 2, 3, 4, 5])).toEqual({
    first: 1,
    last: 5,
    growth: 4,
    noise: 0,
    isGrowing: true,
  });
});
