import { manualClock, silentLog, type Counters, type ManualClock } from '@model-gateway/kernel';
import { createLoginLimits } from './login-limits.ts';

const MINUTE_MS = 60_000;
const who = { email: 'a@example.com', clientIp: '192.0.2.1' };
const wrong = () => Promise.resolve(undefined);
const right = () => Promise.resolve('proof');

/** Counters as several processes would share them. */
function memoryCounters(clock: ManualClock): Counters & { keys(): string[] } {
  const counts = new Map<string, { value: number; expiresAt: number }>();
  const live = (key: string) => {
    const count = counts.get(key);
    return count === undefined || count.expiresAt <= clock.now() ? undefined : count;
  };
  return {
    async add(key, by, { expiresAfterMs = Infinity } = {}) {
      const { value = 0, expiresAt = clock.now() + expiresAfterMs } = live(key) ?? {};
      counts.set(key, { value: value + by, expiresAt });
      return Promise.resolve(value + by);
    },
    read: (keys) => Promise.resolve(keys.map((key) => live(key)?.value ?? 0)),
    remove: (key) => Promise.resolve(void counts.delete(key)),
    keys: () => [...counts.keys()],
  };
}

function setup() {
  const clock = manualClock(Date.UTC(2026, 0, 1));
  const counters = memoryCounters(clock);
  const known = new Set<string>();
  const knownAddresses = {
    isKnown: async ({ email, clientIp }: typeof who) => known.has(`${email} ${clientIp}`),
  };
  const process = () => createLoginLimits({ counters, knownAddresses, clock, log: silentLog });
  return { clock, counters, known, process };
}

const refusal = (retryAfterSecs: number) => ({
  code: 'too_many_login_attempts',
  message: 'too many login attempts',
  details: { retry_after_secs: retryAfterSecs },
});

async function failTimes(
  limits: ReturnType<typeof createLoginLimits>,
  times: number,
  attempt: (index: number) => typeof who = () => who,
): Promise<void> {
  for (let index = 0; index < times; index += 1) {
    expect(await limits.attempt(attempt(index), wrong)).toBeUndefined();
  }
}

test('five failures lock the account for the address for fifteen minutes, for the right password too', async () => {
  const { clock, process } = setup();
  const limits = process();
  await failTimes(limits, 5);
  let checks = 0;
  const check = () => {
    checks += 1;
    return right();
  };
  await expect(limits.attempt(who, check)).rejects.toMatchObject(refusal(900));
  clock.advance(14 * MINUTE_MS + 500);
  await expect(limits.attempt(who, check)).rejects.toMatchObject(refusal(60));
  expect(checks).toBe(0);
  clock.advance(MINUTE_MS);
  expect(await limits.attempt(who, check)).toBe('proof');
});

test('five failures lock neither the account for other addresses nor the address for other accounts', async () => {
  const { process } = setup();
  const limits = process();
  await failTimes(limits, 5);
  expect(await limits.attempt({ ...who, clientIp: '192.0.2.2' }, right)).toBe('proof');
  expect(await limits.attempt({ ...who, email: 'b@example.com' }, right)).toBe('proof');
  await expect(limits.attempt(who, right)).rejects.toMatchObject(refusal(900));
});

test('failures count for fifteen minutes each, wherever a window might begin', async () => {
  const { clock, process } = setup();
  const limits = process();
  await failTimes(limits, 1);
  clock.advance(12 * MINUTE_MS);
  await failTimes(limits, 3);
  clock.advance(6 * MINUTE_MS);
  await failTimes(limits, 2);
  await expect(limits.attempt(who, right)).rejects.toMatchObject(refusal(900));
});

test('a success clears the failures of the account from the address', async () => {
  const { process } = setup();
  const limits = process();
  await failTimes(limits, 4);
  expect(await limits.attempt(who, right)).toBe('proof');
  await failTimes(limits, 4);
  expect(await limits.attempt(who, right)).toBe('proof');
});

test('thirty failures from one address lock it for every account, and successes between do not help', async () => {
  const { process } = setup();
  const limits = process();
  const another = (index: number) => ({ ...who, email: `${index}@example.com` });
  await failTimes(limits, 29, another);
  expect(await limits.attempt({ ...who, email: 'mine@example.com' }, right)).toBe('proof');
  await failTimes(limits, 1, () => another(29));
  await expect(limits.attempt({ ...who, email: 'mine@example.com' }, right)).rejects.toMatchObject(
    refusal(900),
  );
  expect(await limits.attempt({ ...who, clientIp: '192.0.2.9' }, right)).toBe('proof');
});

const elsewhere = (index: number) => ({ ...who, clientIp: `198.51.100.${index}` });

test('a hundred failures lock the account for addresses that never signed in to it, and for no others', async () => {
  const { known, process } = setup();
  const limits = process();
  known.add('a@example.com 192.0.2.7');
  await failTimes(limits, 99, elsewhere);
  expect(await limits.attempt(elsewhere(200), right)).toBe('proof');
  await failTimes(limits, 1, () => elsewhere(99));
  await expect(limits.attempt(elsewhere(201), right)).rejects.toMatchObject(refusal(900));
  expect(await limits.attempt({ ...who, clientIp: '192.0.2.7' }, right)).toBe('proof');
  expect(await limits.attempt({ ...elsewhere(201), email: 'b@example.com' }, right)).toBe('proof');
});

test('an address that has signed in to a locked account is still refused for failures of its own', async () => {
  const { known, process } = setup();
  const limits = process();
  known.add('a@example.com 192.0.2.1');
  await failTimes(limits, 100, elsewhere);
  await failTimes(limits, 5);
  await expect(limits.attempt(who, right)).rejects.toMatchObject(refusal(900));
});

test('of fifty wrong attempts at once in two processes exactly five are checked', async () => {
  const { process } = setup();
  const [one, other] = [process(), process()];
  let checks = 0;
  const check = async () => {
    checks += 1;
    await new Promise((resolve) => setImmediate(resolve));
    return undefined;
  };
  const attempts = Array.from({ length: 50 }, (_, index) =>
    (index % 2 === 0 ? one : other).attempt(who, check),
  );
  const outcomes = await Promise.allSettled(attempts);
  expect(checks).toBe(5);
  const refusals = outcomes.filter(({ status }) => status === 'rejected');
  expect(refusals).toHaveLength(45);
  for (const refused of refusals) expect(refused).toMatchObject({ reason: refusal(900) });
});

test('fifty right attempts at once all succeed', async () => {
  const { process } = setup();
  const [one, other] = [process(), process()];
  const attempts = Array.from({ length: 50 }, (_, index) =>
    (index % 2 === 0 ? one : other).attempt(who, async () => {
      await new Promise((resolve) => setImmediate(resolve));
      return 'proof';
    }),
  );
  expect(new Set(await Promise.all(attempts))).toEqual(new Set(['proof']));
});

test('an attempt that could not be checked is no failure', async () => {
  const { process } = setup();
  const limits = process();
  for (let index = 0; index < 30; index += 1) {
    const unavailable = limits.attempt(who, () =>
      Promise.reject(new Error('the database is away')),
    );
    await expect(unavailable).rejects.toThrow('the database is away');
  }
  expect(await limits.attempt(who, right)).toBe('proof');
});

test('no login is refused because the counters are unavailable', async () => {
  const unavailable = () => Promise.reject(new Error('unavailable'));
  const limits = createLoginLimits({
    counters: { add: unavailable, read: unavailable, remove: unavailable },
    knownAddresses: { isKnown: async () => false },
    clock: manualClock(0),
    log: silentLog,
  });
  await failTimes(limits, 10);
  expect(await limits.attempt(who, right)).toBe('proof');
});

test('what is kept names neither the person nor the address', async () => {
  const { counters, process } = setup();
  await failTimes(process(), 5);
  const kept = counters.keys().join('\n');
  expect(kept).not.toBe('');
  expect(kept).not.toContain('a@example.com');
  expect(kept).not.toContain('192.0.2.1');
});
