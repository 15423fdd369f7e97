import { once, EventEmitter } from 'node:events';
import { createDeadlines } from './deadlines.ts';

const TIMEOUT_MS = 60;

function begin(): {
  onTimeout(): void;
  readonly timedOut: Promise<unknown>;
  readonly count: number;
} {
  const events = new EventEmitter();
  let count = 0;
  return {
    onTimeout() {
      count += 1;
      events.emit('timeout');
    },
    timedOut: once(events, 'timeout'),
    get count() {
      return count;
    },
  };
}

/** The timer alone does not keep a process alive, nor a test. */
async function awake<Result>(work: Promise<Result>): Promise<Result> {
  const timer = setInterval(() => undefined, 1_000);
  try {
    return await work;
  } finally {
    clearInterval(timer);
  }
}

test('a call that takes too long times out once, not too early, and others have their own limit', async () => {
  const deadlines = createDeadlines(TIMEOUT_MS);
  const startedAt = performance.now();
  const [first, over] = [begin(), begin()];
  deadlines.add(first);
  deadlines.remove(deadlines.add(over));
  const half = begin();
  createDeadlines(TIMEOUT_MS / 2).add(half);
  await awake(half.timedOut);
  const second = begin();
  const secondAt = performance.now();
  deadlines.add(second);
  await awake(first.timedOut);
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(TIMEOUT_MS);
  await awake(second.timedOut);
  expect(performance.now() - secondAt).toBeGreaterThanOrEqual(TIMEOUT_MS);
  expect([first.count, second.count, over.count]).toEqual([1, 1, 0]);
});

test('one that begins after all others are over times out as well', async () => {
  const deadlines = createDeadlines(TIMEOUT_MS);
  const early = begin();
  deadlines.remove(deadlines.add(early));
  const late = begin();
  deadlines.add(late);
  await awake(late.timedOut);
  expect([early.count, late.count]).toEqual([0, 1]);
});
