import type { AdmissionFacts, BillingFacts } from '@model-gateway/billing';
import { manualClock, newId, type Locks } from '@model-gateway/kernel';
import { createTestContext, usageEvent, waitUntil, type TestContext } from '@model-gateway/testkit';
import { createFactRefresh } from '../src/fact-refresh.ts';

const INTERVAL_MS = 20;
const alwaysFree: Locks = {
  acquire: () =>
    Promise.resolve({ extend: () => Promise.resolve(true), release: () => Promise.resolve(true) }),
};

let test_: TestContext;
beforeAll(async () => {
  test_ = await createTestContext();
});
afterAll(() => test_.close());

/** A refresh with the given facts and a store whose change a test can trigger. */
function setUp(
  changedSince: BillingFacts['changedSince'],
  { locks = alwaysFree, now = Date.UTC(2026, 2, 20) } = {},
) {
  const clock = manualClock(now);
  const published: AdmissionFacts[] = [];
  let listener = (): void => undefined;
  const part = createFactRefresh({
    facts: { changedSince },
    admission: {
      updateHints: (facts) => {
        published.push(facts);
        return Promise.resolve();
      },
    },
    locks,
    onStoreChange: (onChange) => {
      listener = onChange;
      return () => undefined;
    },
    clock,
    log: test_.context.log,
    intervalMs: INTERVAL_MS,
  });
  return { part, clock, published, changeStore: () => listener() };
}

async function* nothing(): AsyncGenerator<AdmissionFacts> {
  // There is no page.
}

test('facts in the database reach the admission store, also when they were not published', async () => {
  const { bus, database, clock, log } = test_.context;
  const userId = newId();
  const now = new Date(clock.now()).toISOString();
  await database.usage.record(
    [
      usageEvent(userId, {
        key_id: newId(),
        api_key_id: 'service-',
        project: 'shop',
        created_at: now,
      }),
    ],
    { pointsPerUsd: 100 },
  );
  const part = createFactRefresh({
    facts: database.billingFacts,
    admission: bus.admission,
    locks: bus.locks,
    onStoreChange: (listener) => bus.onModeChange(listener),
    clock,
    log,
  });
  await part.start();
  const knownWindow = async () => {
    const answer = await bus.admission.admit({
      knownEpoch: Number.MAX_SAFE_INTEGER,
      limits: [],
      window: { userId, month: now.slice(0, 7) },
    });
    return answer.outcome === 'admitted' ? answer.window : undefined;
  };
  await waitUntil(async () => (await knownWindow()) !== undefined, { what: 'a known window' });
  expect(await knownWindow()).toEqual({ costUsd: 0.25, tokens: 3, version: 1 });
  await part.stop();
});

test('first the whole month is published, then changes, and everything again when the store changed', async () => {
  const queried: string[] = [];
  const { part, clock, changeStore } = setUp((time) => {
    queried.push(time.toISOString());
    return nothing();
  });
  const queriedTimes = (count: number) =>
    waitUntil(async () => queried.length >= count, { what: `${count} rounds` });
  await part.start();
  await queriedTimes(2);
  clock.advance(30_000);
  const before = queried.length;
  await queriedTimes(before + 2);
  changeStore();
  const again = queried.length;
  await queriedTimes(again + 2);
  await part.stop();
  expect(queried[0]).toBe('2026-03-01T00:00:00.000Z');
  expect(queried[1]).toBe('2026-03-19T23:58:40.000Z');
  expect(queried[before + 1]).toBe('2026-03-19T23:59:10.000Z');
  expect(queried.slice(again)).toContain('2026-03-01T00:00:00.000Z');
});

test('early in a month the last days of the previous month are published too', async () => {
  const queried: string[] = [];
  const { part } = setUp(
    (time) => {
      queried.push(time.toISOString());
      return nothing();
    },
    { now: Date.UTC(2026, 2, 1, 12) },
  );
  await part.start();
  await waitUntil(async () => queried.length > 0, { what: 'a round' });
  await part.stop();
  expect(queried[0]).toBe('2026-02-26T12:00:00.000Z');
});

test('a failed round is repeated', async () => {
  const queried: string[] = [];
  const { part, published } = setUp(async function* failingOnce(time) {
    queried.push(time.toISOString());
    yield { windows: [], accounts: [] };
    if (queried.length === 1) throw new Error('the database is unavailable');
  });
  await part.start();
  await waitUntil(async () => queried.length >= 3, { what: 'three rounds' });
  await part.stop();
  expect(queried.slice(0, 3)).toEqual([
    '2026-03-01T00:00:00.000Z',
    '2026-03-01T00:00:00.000Z',
    '2026-03-19T23:58:40.000Z',
  ]);
  expect(published.length).toBeGreaterThanOrEqual(3);
});

test('only one process refreshes at a time', async () => {
  const queried: Date[] = [];
  let tries = 0;
  const { part } = setUp(
    (time) => {
      queried.push(time);
      return nothing();
    },
    {
      locks: {
        acquire: () => {
          tries += 1;
          return Promise.resolve(undefined);
        },
      },
    },
  );
  await part.start();
  await waitUntil(async () => tries >= 3, { what: 'three tries' });
  await part.stop();
  expect(queried).toEqual([]);
});
