import { createExpiryQueue } from './expiry-queue.ts';

test('things come out in the order of their expiry, however they went in', () => {
  const queue = createExpiryQueue<{ readonly expiresAt: number }>();
  const times = Array.from({ length: 500 }, (_, index) => (index * 7919) % 251);
  for (const expiresAt of times) queue.add({ expiresAt });
  expect(queue.size()).toBe(500);
  const taken: number[] = [];
  for (let next = queue.takeSoonest(); next !== undefined; next = queue.takeSoonest()) {
    taken.push(next.expiresAt);
  }
  expect(taken).toEqual(times.toSorted((a, b) => a - b));
  expect(queue.soonest()).toBeUndefined();
});
