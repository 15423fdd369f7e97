import { manualClock } from '@model-gateway/kernel';
import { createRequestLimiter } from './request-limiter.ts';

function setup(requestsPerMinute: number, keysMax?: number) {
  const clock = manualClock(1_000_000);
  const limiter = createRequestLimiter({
    requestsPerMinute,
    clock,
    ...(keysMax === undefined ? {} : { keysMax }),
  });
  const send = (times: number, key = 'a'): number =>
    Array.from({ length: times }, () => limiter.admits(key)).filter(Boolean).length;
  return { clock, send, limiter };
}

test('at most the limit of requests is accepted within a minute', () => {
  const { send } = setup(60);
  expect(send(100)).toBe(60);
});

test('the window of a key says how many requests count, and when the oldest stops', () => {
  const { clock, send, limiter } = setup(3);
  expect(limiter.windowOf('a')).toEqual({ count: 0, nextFreeMs: 0 });
  send(1);
  clock.advance(10_000);
  send(1);
  expect(limiter.windowOf('a')).toEqual({ count: 2, nextFreeMs: 50_000 });
  clock.advance(50_000);
  expect(limiter.windowOf('a')).toEqual({ count: 1, nextFreeMs: 10_000 });
  expect(limiter.windowOf('b')).toEqual({ count: 0, nextFreeMs: 0 });
});

test('the window slides: a request stops counting exactly a minute later', () => {
  const { clock, send } = setup(3);
  expect(send(1)).toBe(1);
  clock.advance(10_000);
  expect(send(5)).toBe(2);
  clock.advance(49_999);
  expect(send(1)).toBe(0);
  clock.advance(1);
  expect(send(5)).toBe(1);
  clock.advance(10_000);
  expect(send(5)).toBe(2);
});

test('a refused request does not count', () => {
  const { clock, send } = setup(2);
  expect(send(2)).toBe(2);
  clock.advance(59_999);
  expect(send(50)).toBe(0);
  clock.advance(1);
  expect(send(5)).toBe(2);
});

test('each key has its own minute', () => {
  const { send } = setup(1);
  expect([send(2, 'a'), send(2, 'b'), send(2, 'a')]).toEqual([1, 1, 0]);
});

test('a limit of 0 refuses everything', () => {
  const { clock, send } = setup(0);
  expect(send(3)).toBe(0);
  clock.advance(120_000);
  expect(send(3)).toBe(0);
});

test('no minute has more than the limit, whenever the requests arrive', () => {
  const { clock, send } = setup(17);
  const admitted: number[] = [];
  for (let step = 0; step < 5_000; step += 1) {
    clock.advance((step * 7919) % 3_000);
    if (send(1) === 1) admitted.push(clock.now());
  }
  const most = admitted.map(
    (end) => admitted.filter((at) => at <= end && at > end - 60_000).length,
  );
  expect(Math.max(...most)).toBe(17);
});

test('after the clock was set back, requests are accepted again', () => {
  const { clock, send } = setup(2);
  expect(send(2)).toBe(2);
  clock.advance(-3_600_000);
  expect(send(3)).toBe(2);
});

test('above the maximum number of keys, the one idle for longest is evicted', () => {
  const { send } = setup(1, 2);
  expect([send(1, 'a'), send(1, 'b'), send(1, 'c')]).toEqual([1, 1, 1]);
  expect([send(1, 'c'), send(1, 'b'), send(1, 'a')]).toEqual([0, 0, 1]);
});
