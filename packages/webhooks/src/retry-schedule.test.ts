import { pauseAfter } from './retry-schedule.ts';

test('the first repetition comes after 30 s, and the last within a day', () => {
  const pauses: number[] = [];
  for (let attempts = 1; ; attempts += 1) {
    const pauseMs = pauseAfter(attempts);
    if (pauseMs === undefined) break;
    pauses.push(pauseMs);
  }
  expect(pauses[0]).toBe(30_000);
  expect(pauses).toEqual(pauses.toSorted((left, right) => left - right));
  const hours = pauses.reduce((sum, pauseMs) => sum + pauseMs, 0) / 3_600_000;
  expect(hours).toBeGreaterThan(23);
  expect(hours).toBeLessThanOrEqual(24);
});
