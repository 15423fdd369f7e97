import { manualClock, silentLog, type Counters, type ManualClock } from '@model-gateway/kernel';
import { createRequestCounter } from './request-counter.ts';

/** Counters as several processes would share them, with the calls that reached them. */
function memoryCounters(clock: ManualClock) {
  const counts = new Map<string, { value: number; expiresAt: number }>();
  const added: string[] = [];
  const live = (key: string) => {
    const count = counts.get(key);
    return count === undefined || count.expiresAt <= clock.now() ? undefined : count;
  };
  const counters: Counters = {
    add(key, by, { expiresAfterMs = Infinity } = {}) {
      added.push(key);
      const { value = 0, expiresAt = clock.now() + expiresAfterMs } = live(key) ?? {};
      counts.set(key, { value: value + by, expiresAt });
      return Promise.resolve(value + by);
    },
    read: (keys) => Promise.resolve(keys.map((key) => live(key)?.value ?? 0)),
    remove: (key) => Promise.resolve(void counts.delete(key)),
  };
  return { counters, added };
}

function setup() {
  const clock = manualClock(Date.UTC(2026, 0, 1));
  const { counters, added } = memoryCounters(clock);
  const process = () => createRequestCounter({ counters, clock, log: silentLog });
  return { clock, added, process };
}

function accept(counter: ReturnType<typeof createRequestCounter>, times: number): void {
  for (let index = 0; index < times; index += 1) counter.accepted();
}

test('requests of every process are counted, in total and in the trailing minute', async () => {
  const { clock, process } = setup();
  const [one, other] = [process(), process()];
  accept(one, 3);
  accept(other, 2);
  await other.stop();
  expect(await one.read()).toEqual({ total: 5, perMinute: 5 });
  clock.advance(59_000);
  accept(one, 1);
  expect(await one.read()).toEqual({ total: 6, perMinute: 6 });
  clock.advance(1_000);
  expect(await one.read()).toEqual({ total: 6, perMinute: 1 });
  clock.advance(3_600_000);
  expect(await one.read()).toEqual({ total: 6, perMinute: 0 });
});

test('accepting shares nothing by itself, and sharing takes two calls for a second of requests', async () => {
  const { added, process } = setup();
  const counter = process();
  accept(counter, 1_000);
  expect(added).toEqual([]);
  await counter.stop();
  expect(added).toHaveLength(2);
});

test('accepted requests are shared a moment later', async () => {
  const clock = manualClock(0);
  const shared = new Promise<number>((resolve) => {
    const counters: Counters = {
      add(_key, by) {
        resolve(by);
        return Promise.resolve(by);
      },
      read: (keys) => Promise.resolve(keys.map(() => 0)),
      remove: () => Promise.resolve(),
    };
    accept(createRequestCounter({ counters, clock, log: silentLog }), 7);
  });
  expect(await shared).toBe(7);
});

test('a failure to share is no failure of a request', async () => {
  const unavailable = () => Promise.reject(new Error('unavailable'));
  const counter = createRequestCounter({
    counters: {
      add: unavailable,
      read: (keys) => Promise.resolve(keys.map(() => 0)),
      remove: unavailable,
    },
    clock: manualClock(0),
    log: silentLog,
  });
  accept(counter, 1);
  expect(await counter.read()).toEqual({ total: 0, perMinute: 0 });
});
