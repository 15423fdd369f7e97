import { manualClock } from '@model-gateway/kernel';
import { createRequestLimiter } from './request-limiter.ts';

function setup(requestsPerMinute: number, keysMax?: number) {
  const clock = manualClock(1_000_000);
  const limiter = createRequestLimiter({
    requestsPerMinute,
    clock,
    ...(keysMax === undefined ? {} : { keysMax }),
  });
  const ask = (times: number, key = 'a'): number =>
    Array.from({ length: times }, () => limiter.admits(key)).filter(Boolean).length;
  return { clock, ask };
}

test('so many requests are let through within a minute, and no more', () => {
  const { ask } = setup(60);
  expect(ask(100)).toBe(60);
});

test('the window slides: a request makes room for another exactly a minute later', () => {
  const { clock, ask } = setup(3);
  expect(ask(1)).toBe(1);
  clock.advance(10_000);
  expect(ask(5)).toBe(2);
  clock.advance(49_999);
  expect(ask(1)).toBe(0);
  clock.advance(1);
  expect(ask(5)).toBe(1);
  clock.advance(10_000);
  expect(ask(5)).toBe(2);
});

test('a refused request does not count', () => {
  const { clock, ask } = setup(2);
  expect(ask(2)).toBe(2);
  clock.advance(59_999);
  expect(ask(50)).toBe(0);
  clock.advance(1);
  expect(ask(5)).toBe(2);
});

test('each key has its own minute', () => {
  const { ask } = setup(1);
  expect([ask(2, 'a'), ask(2, 'b'), ask(2, 'a')]).toEqual([1, 1, 0]);
});

test('a limit of 0 lets nothing through', () => {
  const { clock, ask } = setup(0);
  expect(ask(3)).toBe(0);
  clock.advance(120_000);
  expect(ask(3)).toBe(0);
});

test('no minute has more than the limit, whenever the requests come', () => {
  const { clock, ask } = setup(17);
  const admitted: number[] = [];
  for (let step = 0; step < 5_000; step += 1) {
    clock.advance((step * 7919) % 3_000);
    if (ask(1) === 1) admitted.push(clock.now());
  }
  const most = admitted.map(
    (end) => admitted.filter((at) => at <= end && at > end - 60_000).length,
  );
  expect(Math.max(...most)).toBe(17);
});

test('a clock that was set back lets requests through again', () => {
  const { clock, ask } = setup(2);
  expect(ask(2)).toBe(2);
  clock.advance(-3_600_000);
  expect(ask(3)).toBe(2);
});

test('of more keys than there is room for, the quietest is forgotten', () => {
  const { ask } = setup(1, 2);
  expect([ask(1, 'a'), ask(1, 'b'), ask(1, 'c')]).toEqual([1, 1, 1]);
  expect([ask(1, 'c'), ask(1, 'b'), ask(1, 'a')]).toEqual([0, 0, 1]);
});
