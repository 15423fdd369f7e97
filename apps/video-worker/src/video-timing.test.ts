import { manualClock } from '@model-gateway/kernel';
import { createVideoTiming } from './video-timing.ts';

const clock = manualClock(1_000_000);

test('after each consecutive failure the pause doubles, up to 30 seconds', () => {
  const timing = createVideoTiming({ pollMs: 2_000, timeoutSecs: 60, clock });
  const pauses: number[] = [];
  let memo = {};
  for (let failure = 0; failure < 6; failure += 1) {
    const next = timing.afterFailure(memo);
    pauses.push(next.afterMs);
    memo = next.memo ?? {};
  }
  expect(pauses).toEqual([4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
  expect(timing.next).toEqual({ afterMs: 2_000 });
});

test('no pause is shorter than the interval', () => {
  const timing = createVideoTiming({ pollMs: 120_000, timeoutSecs: 60, clock });
  expect(timing.afterFailure({ failures: 1_000 }).afterMs).toBe(120_000);
});

test('a job expires after the limit, not at it', () => {
  const timing = createVideoTiming({ pollMs: 2_000, timeoutSecs: 60, clock });
  const ago = (milliseconds: number) => new Date(clock.now() - milliseconds);
  expect([timing.isExpired(ago(60_000)), timing.isExpired(ago(60_001))]).toEqual([false, true]);
});
