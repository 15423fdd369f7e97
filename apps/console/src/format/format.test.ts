import { createFormat } from './format.ts';

const format = createFormat('en', 'UTC');
/** Versions of Node differ in which kind of space they use. */
const spaced = (text: string): string => text.replaceAll(/\s/g, ' ');

test.each([
  [0, '$0.00'],
  [0.000_412, '$0.00041'],
  [0.0123, '$0.0123'],
  [0.5, '$0.50'],
  [1.239, '$1.24'],
  [1234.5, '$1,234.50'],
])('%d US dollars are shown as %s', (usd, text) => {
  expect(format.money(usd)).toBe(text);
});

test.each([
  [42, '42 ms'],
  [1234, '1.2 sec'],
  [59_400, '59.4 sec'],
  [150_000, '2.5 min'],
])('%d milliseconds are shown as %s', (ms, text) => {
  expect(format.duration(ms)).toBe(text);
});

test('times are shown relative to now, and bytes with their unit', () => {
  const now = Date.UTC(2026, 0, 2);
  expect(format.relative(now - 190_000, now)).toBe('3 minutes ago');
  expect(format.relative(now + 7_200_000, now)).toBe('in 2 hours');
  expect(format.relative(now, now)).toBe('now');
  // At another time of the day this was the day before yesterday.
  expect(format.relative(now - 47 * 3_600_000, now)).toBe('1 day ago');
  expect(createFormat('de').relative(now + 60 * 3_600_000, now)).toBe('in 2 Tagen');
  expect(format.bytes(1536)).toBe('1.5 kB');
  expect(spaced(format.dateTime(now))).toBe('Jan 2, 2026, 12:00:00 AM');
  expect(spaced(createFormat('de', 'UTC').money(1234.5))).toBe('1.234,50 $');
});
