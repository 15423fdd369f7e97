import { manualClock } from '@model-gateway/kernel';
import { createVideoPace } from './video-pace.ts';

const clock = manualClock(1_000_000);

test('after each failure in a row the pause doubles, up to half a minute', () => {
  const pace = createVideoPace({ pollMs: 2_000, timeoutSecs: 60, clock });
  const pauses: number[] = [];
  let memo = {};
  for (let failure = 0; failure < 6; failure += 1) {
    const next = pace.afterFailure(memo);
    pauses.push(next.afterMs);
    memo = next.memo ?? {};
  }
  expect(pauses).toEqual([4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
  expect(pace.next).toEqual({ afterMs: 2_000 });
});

test('no pause is shorter than the interval', () => {
  const pace = createVideoPace({ pollMs: 120_000, timeoutSecs: 60, clock });
  expect(pace.afterFailure({ failures: 1_000 }).afterMs).toBe(120_000);
});

test('time is over after the limit, not at it', () => {
  const pace = createVideoPace({ pollMs: 2_000, timeoutSecs: 60, clock });
  const ago = (milliseconds: number) => new Date(clock.now() - milliseconds);
  expect([pace.isOver(ago(60_000)), pace.isOver(ago(60_001))]).toEqual([false, true]);
});
