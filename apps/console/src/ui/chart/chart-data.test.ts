import { bucketAt, stackedValues, WHOLE_STEPS } from './chart-data.ts';

test('bars are stacked with the whole bar first', () => {
  const stacked = stackedValues([
    { name: 'a', values: [1, 2, null] },
    { name: 'b', values: [10, 0, 5] },
  ]);
  expect(stacked).toEqual([
    [11, 2, 5],
    [1, 2, 0],
  ]);
});

test.each([
  { time: 5, index: 0 },
  { time: 10, index: 0 },
  { time: 19, index: 0 },
  { time: 20, index: 1 },
  { time: 99, index: 2 },
])('$time is in bucket $index', ({ time, index }) => {
  expect(bucketAt([10, 20, 30], time)).toBe(index);
});

test('the steps of a count are whole and ascend', () => {
  expect(WHOLE_STEPS.slice(0, 5)).toEqual([1, 2, 5, 10, 20]);
  expect(WHOLE_STEPS.every((step) => Number.isInteger(step))).toBe(true);
});
