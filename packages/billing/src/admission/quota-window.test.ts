import { monthOf, nextMonthStart, secondsToNextMonth, windowOf } from './quota-window.ts';

test('the window of a user is a UTC month', () => {
  const march = new Date('2026-03-31T23:59:59.999Z');
  expect(windowOf('u', march)).toEqual({ userId: 'u', month: '2026-03' });
});

test('months are UTC', () => {
  expect(monthOf(new Date('2026-03-31T23:30:00-05:00'))).toBe('2026-04');
});

test.each([
  ['2026-02-28T23:59:59.001Z', '2026-03-01T00:00:00.000Z', 1],
  ['2026-12-31T23:59:00.000Z', '2027-01-01T00:00:00.000Z', 60],
  ['2026-04-01T00:00:00.000Z', '2026-05-01T00:00:00.000Z', 30 * 86_400],
])('at %s the next month begins at %s, in %i seconds', (now, start, seconds) => {
  expect(nextMonthStart(new Date(now)).toISOString()).toBe(start);
  expect(secondsToNextMonth(new Date(now))).toBe(seconds);
});
