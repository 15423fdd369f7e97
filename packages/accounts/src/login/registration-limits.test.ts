import { manualClock, silentLog, type Counters, type ManualClock } from '@model-gateway/kernel';
import { createRegistrationLimits } from './registration-limits.ts';

const SECOND_MS = 1_000;

/** Counters as several processes would share them. */
function memoryCounters(clock: ManualClock): Counters {
  const counts = new Map<string, { value: number; expiresAt: number }>();
  const live = (key: string) => {
    const count = counts.get(key);
    return count === undefined || count.expiresAt <= clock.now() ? undefined : count;
  };
  return {
    async add(key, by, { expiresAfterMs = Infinity } = {}) {
      const { value = 0, expiresAt = clock.now() + expiresAfterMs } = live(key) ?? {};
      counts.set(key, { value: value + by, expiresAt });
      return value + by;
    },
    read: async (keys) => keys.map((key) => live(key)?.value ?? 0),
    remove: async (key) => void counts.delete(key),
  };
}

function setup() {
  const clock = manualClock(Date.UTC(2026, 0, 1));
  const counters = memoryCounters(clock);
  const process = () =>
    createRegistrationLimits({ counters, clock, log: silentLog, perMinuteMax: 3, perHourMax: 5 });
  return { clock, process };
}

const refusal = (unit: string, countMax: number, retryAfterSecs: number) => ({
  code: 'rate_limit_exceeded',
  message: `too many registrations from this address: at most ${countMax} per ${unit}`,
  details: { retry_after_secs: retryAfterSecs },
});

test('the limit per minute holds over two processes until the minute is over', async () => {
  const { clock, process } = setup();
  const [one, other] = [process(), process()];
  await one.admit('192.0.2.1');
  await other.admit('192.0.2.1');
  clock.advance(20 * SECOND_MS);
  await one.admit('192.0.2.1');
  await expect(other.admit('192.0.2.1')).rejects.toMatchObject(refusal('minute', 3, 40));
  await expect(one.admit('192.0.2.1')).rejects.toMatchObject(refusal('minute', 3, 40));
  await other.admit('192.0.2.2');
  clock.advance(40 * SECOND_MS);
  await one.admit('192.0.2.1');
});

test('the limit per hour holds over its minutes', async () => {
  const { clock, process } = setup();
  const limits = process();
  for (let count = 0; count < 5; count += 1) {
    await limits.admit('192.0.2.1');
    clock.advance(60 * SECOND_MS);
  }
  await expect(limits.admit('192.0.2.1')).rejects.toMatchObject(refusal('hour', 5, 3300));
  clock.advance(3300 * SECOND_MS);
  await limits.admit('192.0.2.1');
});

test('no registration is refused because the counters are unavailable', async () => {
  const unavailable = () => Promise.reject(new Error('unavailable'));
  const limits = createRegistrationLimits({
    counters: { add: unavailable, read: unavailable, remove: unavailable },
    clock: manualClock(0),
    log: silentLog,
    perMinuteMax: 1,
    perHourMax: 1,
  });
  for (let count = 0; count < 5; count += 1) await limits.admit('192.0.2.1');
});
