import { createBackoff } from './backoff.ts';

test('pauses double up to 30 seconds, and restart after a success', () => {
  const backoff = createBackoff(() => 1);
  const pauses = Array.from({ length: 8 }, () => backoff.next());
  expect(pauses).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
  backoff.reset();
  expect(backoff.next()).toBe(500);
});

test('the random part is up to half of a pause', () => {
  expect(createBackoff(() => 0).next()).toBe(250);
});
