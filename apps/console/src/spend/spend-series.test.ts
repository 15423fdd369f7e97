import {
  alignedSums,
  bucketsOf,
  largestKeys,
  periodBefore,
  isRestUngrouped,
  seriesOf,
  shownPeriod,
} from './spend-series.ts';
import type { SpendGroup } from './summary.ts';

const group = (key: string | null, requests: number, cost = 0): SpendGroup => ({
  key,
  requests,
  errors: 0,
  cancelled: 0,
  prompt_tokens: 0,
  completion_tokens: 0,
  cached_tokens: 0,
  total_tokens: 0,
  cost_usd: cost,
  points: 0,
});
const time = (text: string): number => Date.parse(text);

test('a short range is shown by whole hours, a long one by whole days of UTC', () => {
  const day = bucketsOf(time('2026-03-01T10:20:00Z'), time('2026-03-02T10:20:00Z'));
  expect(day).toMatchObject({ isByDay: false, from: time('2026-03-01T10:00:00Z') });
  expect(day.times).toHaveLength(25);
  const longest = bucketsOf(time('2026-03-01T00:00:00Z'), time('2026-03-02T06:00:00Z'));
  expect(longest).toMatchObject({ isByDay: false });
  expect(longest.times).toHaveLength(30);
  const longer = bucketsOf(time('2026-03-01T00:00:00Z'), time('2026-03-02T06:00:01Z'));
  expect(longer).toMatchObject({ isByDay: true });
  const month = bucketsOf(time('2026-03-01T10:20:00Z'), time('2026-03-31T10:20:00Z'));
  expect(month).toMatchObject({ isByDay: true, to: time('2026-04-01T00:00:00Z') });
  expect(month.times).toHaveLength(31);
});

test('a range is about the whole hours or days that it touches, and compared with as long a time before', () => {
  const now = time('2026-03-10T10:20:00Z');
  expect(shownPeriod({ range: '15m' }, now)).toEqual({
    from: '2026-03-10T10:00:00.000Z',
    to: '2026-03-10T11:00:00.000Z',
  });
  // The hour has lasted 20 minutes.
  expect(periodBefore({ range: '15m' }, now)).toEqual({
    from: '2026-03-10T09:40:00.000Z',
    to: '2026-03-10T10:00:00.000Z',
  });
  const past = { from: '2026-03-01T10:20:00Z', to: '2026-03-05T10:20:00Z' };
  expect(shownPeriod(past, now)).toEqual({
    from: '2026-03-01T00:00:00.000Z',
    to: '2026-03-06T00:00:00.000Z',
  });
  expect(periodBefore(past, now)).toEqual({
    from: '2026-02-24T00:00:00.000Z',
    to: '2026-03-01T00:00:00.000Z',
  });
});

test('an hour or day without requests is zero', () => {
  const times = [time('2026-03-01'), time('2026-03-02'), time('2026-03-03')];
  const sums = alignedSums(times, [group('2026-03-01', 4), group('2026-03-03', 6)]);
  expect(sums.map(({ requests }) => requests)).toEqual([4, 0, 6]);
});

test('the largest groups have a series each, the rest is one, and the sum stays the same', () => {
  const groups = [group('a', 5, 1), group(null, 9, 9), group('b', 7, 0), group('c', 0, 0)];
  expect(largestKeys(groups, 'requests')).toEqual(['b', 'a']);
  expect(largestKeys(groups, 'requests', 1)).toEqual(['b']);
  const series = seriesOf(
    {
      overTime: [group(null, 10), group(null, 11)],
      parts: [
        { key: 'b', overTime: [group(null, 3), group(null, 4)] },
        { key: 'a', overTime: [group(null, 0), group(null, 5)] },
      ],
    },
    'requests',
    (key) => key.toUpperCase(),
    'Other',
  );
  expect(series).toEqual([
    { name: 'B', values: [3, 4] },
    { name: 'A', values: [0, 5] },
    { name: 'Other', values: [7, 2], isRest: true },
  ]);
});

test('a group of which every request failed has a series', () => {
  const failing = { ...group('down', 4), errors: 4 };
  expect(largestKeys([group('up', 5), failing], 'requests')).toEqual(['up', 'down']);
  expect(largestKeys([group('up', 5), failing], 'errors', 1)).toEqual(['down']);
});

test('the rest has the name of what belongs to no group, where it is nothing else', () => {
  const parts = [{ key: 'a', overTime: [] }];
  expect(isRestUngrouped({ groups: [group('a', 5), group(null, 1)], parts })).toBe(true);
  const groups = [group('a', 5), group(null, 1), group('b', 1)];
  expect(isRestUngrouped({ groups, parts })).toBe(false);
  expect(isRestUngrouped({ groups: [group('a', 5)], parts })).toBe(false);
});

test('without a rest there is no "other", and without anything only that', () => {
  const whole = [group(null, 3)];
  const part = { key: 'a', overTime: whole };
  const name = (key: string): string => key;
  expect(seriesOf({ overTime: whole, parts: [part] }, 'requests', name, 'Other')).toHaveLength(1);
  expect(seriesOf({ overTime: whole, parts: [] }, 'errors', name, 'Other')).toEqual([
    { name: 'Other', values: [0], isRest: true },
  ]);
});
