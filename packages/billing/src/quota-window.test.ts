import {
  monthOf,
  nextMonthStart,
  secondsToNextMonth,
  windowOf,
  windowsOf,
  type UsageOwner,
} from './quota-window.ts';

const owner = (values: Partial<UsageOwner> = {}): UsageOwner => ({
  userId: 'u',
  keyId: 'k',
  project: 'default',
  ...values,
});
const march = new Date('2026-03-31T23:59:59.999Z');

test.each([
  { why: 'a project of its own', of: owner({ project: 'shop' }), project: 'shop' },
  { why: 'the default project', of: owner(), project: null },
  { why: 'a JWT', of: owner({ keyId: null, project: null }), project: null },
  { why: 'a label without a key', of: owner({ keyId: null, project: 'shop' }), project: null },
])('a request with $why is held against its window', ({ of, project }) => {
  expect(windowOf(of, march)).toEqual({ userId: 'u', project, month: '2026-03' });
});

test('a request counts in the window that it is held against, and always in that of the whole user', () => {
  const whole = { userId: 'u', project: null, month: '2026-03' };
  expect(windowsOf(owner(), march)).toEqual([whole]);
  expect(windowsOf(owner({ project: 'shop' }), march)).toEqual([
    { ...whole, project: 'shop' },
    whole,
  ]);
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
