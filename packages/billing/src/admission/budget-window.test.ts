import { budgetResetOf, budgetWindowOf } from './budget-window.ts';

test.each([
  ['day', '2026-11-17T23:59:59.999Z', '2026-11-17', '2026-11-18T00:00:00.000Z'],
  ['week', '2026-11-16T00:00:00Z', '2026-11-16', '2026-11-23T00:00:00.000Z'],
  ['week', '2026-11-15T23:59:59.999Z', '2026-11-09', '2026-11-16T00:00:00.000Z'],
  ['month', '2026-12-31T23:59:59Z', '2026-12-01', '2027-01-01T00:00:00.000Z'],
  ['total', '2026-12-31T23:59:59Z', '1970-01-01', undefined],
] as const)('the %s of %s begins on %s and ends %s', (period, now, start, end) => {
  expect(budgetWindowOf('k', period, new Date(now))).toEqual({ keyId: 'k', period, start });
  expect(budgetResetOf(period, new Date(now))?.toISOString()).toBe(end);
});
