import { manualClock } from '@model-gateway/kernel';
import { createOutage } from './outage.ts';

function setUp() {
  const clock = manualClock(0);
  return { clock, outage: createOutage(clock, { firstPauseMs: 250, pauseMsMax: 1_000 }) };
}

test('without a failure everyone may wait', () => {
  const { outage } = setUp();
  expect(outage.isPaused).toBe(false);
  expect(outage.tryCall()).toBeDefined();
  expect(outage.tryCall()).toBeDefined();
});

test('after a failure no call waits for a moment, then one tries for all', () => {
  const { clock, outage } = setUp();
  outage.failed();
  expect([outage.isPaused, outage.tryCall()]).toEqual([true, undefined]);
  clock.advance(250);
  expect(outage.isPaused).toBe(false);
  const leave = outage.tryCall();
  expect(leave).toBeDefined();
  expect(outage.tryCall()).toBeUndefined();
  outage.over();
  leave?.();
  expect(outage.tryCall()).toBeDefined();
  expect(outage.tryCall()).toBeDefined();
});

test('pauses double with every attempt that fails, up to a limit, and begin small again', () => {
  const { clock, outage } = setUp();
  const pauseAfterFailure = (): number => {
    outage.failed();
    outage.failed();
    let waited = 0;
    for (; outage.isPaused; waited += 50) clock.advance(50);
    return waited;
  };
  expect([1, 2, 3, 4].map(pauseAfterFailure)).toEqual([250, 500, 1_000, 1_000]);
  outage.over();
  expect(pauseAfterFailure()).toBe(250);
});

test('an attempt that came to no conclusion leaves the next one to another', () => {
  const { clock, outage } = setUp();
  outage.failed();
  clock.advance(250);
  outage.tryCall()?.();
  expect(outage.tryCall()).toBeDefined();
});
