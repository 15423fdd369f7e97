import { isoTime } from './iso-time.ts';

const DAY = Date.UTC(2026, 1, 28, 23, 59, 59, 990);

test.each([
  0,
  7,
  999,
  1_000,
  -1,
  -1_000,
  1_700_000_000_123.75,
  Date.UTC(-1, 0, 1),
  Date.UTC(12_345, 5, 6, 7, 8, 9, 10),
])('%s is written as a Date writes it', (moment) => {
  expect(isoTime(moment)).toBe(new Date(Math.floor(moment)).toISOString());
});

test('from one second, day and month to the next, and back', () => {
  const moments = Array.from({ length: 40 }, (_, index) => DAY + (index % 20));
  expect(moments.map(isoTime)).toEqual(moments.map((moment) => new Date(moment).toISOString()));
});

test('what is no moment is refused', () => {
  expect(() => isoTime(Number.NaN)).toThrow(RangeError);
  expect(isoTime(0)).toBe('1970-01-01T00:00:00.000Z');
});
