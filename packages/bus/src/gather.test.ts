import { gatherMs } from './gather.ts';

test('batches are collected for longer the larger the last one was, up to a second', () => {
  expect([0, 1, 10, 20, 100, 200, 8_000].map(gatherMs)).toEqual([
    50, 50, 50, 100, 500, 1_000, 1_000,
  ]);
});
