import { relativeAge } from './relative-age.ts';

const NOW = Date.UTC(2026, 5, 15, 12);
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

test.each([
  { age: -5 * SECOND, words: 'just now' },
  { age: 0, words: 'just now' },
  { age: MINUTE - 1, words: 'just now' },
  { age: MINUTE, words: '1 minute ago' },
  { age: 2 * MINUTE - 1, words: '1 minute ago' },
  { age: 3 * MINUTE, words: '3 minutes ago' },
  { age: HOUR - 1, words: '59 minutes ago' },
  { age: HOUR, words: '1 hour ago' },
  { age: 2 * HOUR, words: '2 hours ago' },
  { age: DAY - 1, words: '23 hours ago' },
  { age: DAY, words: '1 day ago' },
  { age: 5 * DAY, words: '5 days ago' },
  { age: 30 * DAY - 1, words: '29 days ago' },
  { age: 30 * DAY, words: '1 month ago' },
  { age: 75 * DAY, words: '2 months ago' },
  { age: 365 * DAY, words: '1 year ago' },
  { age: 800 * DAY, words: '2 years ago' },
])('$age ms ago is $words', ({ age, words }) => {
  expect(relativeAge(new Date(NOW - age), NOW)).toBe(words);
});
