import type { UsageEvent } from '@model-gateway/contracts';
import { newId } from '@model-gateway/kernel';
import { createTestContext, usageEvent, waitUntil, type TestContext } from '@model-gateway/testkit';
import { createRecorder } from '../src/recorder.ts';
import { failedRequest } from './failed-request.ts';

let test_: TestContext;
beforeEach(async () => {
  test_ = await createTestContext();
});
afterEach(() => test_.close());

interface Halting {
  /** How often the bad entry was tried alone. */
  readonly alone: () => number;
  readonly reported: readonly string[];
  stop(): Promise<void>;
}

/** A recorder whose code fails on what has a certain id, while `isBroken` says so. */
async function startRecorder(badId: string, isBroken = () => true): Promise<Halting> {
  const { bus, database, metrics, log } = test_.context;
  const reported: string[] = [];
  let alone = 0;
  const recorder = createRecorder({
    journal: bus.journal,
    usage: {
      async record(events, options) {
        const ids = [...events, ...(options.failures ?? [])].map(({ id }) => id);
        if (ids.includes(badId) && isBroken()) {
          if (ids.length === 1) alone += 1;
          throw new TypeError('x is undefined');
        }
        return database.usage.record(events, options);
      },
    },
    rejectedUsage: database.rejectedUsage,
    admission: bus.admission,
    onHalted: async ({ id, error }) => reported.push(`${id} ${error}`),
    pointsPerUsd: 100,
    metrics,
    log,
    haltedRetryMs: 20,
  });
  await recorder.start();
  return { alone: () => alone, reported, stop: () => recorder.stop() };
}

const userId = newId();
const rows = async (): Promise<number> =>
  (await test_.context.database.usage.list({ userId, limit: 1, offset: 0 })).total;
const gauge = async () =>
  /^service_usage_halted (\d)/m.exec(await test_.context.metrics.expose())?.[1];
const halting = async () =>
  (await test_.context.database.rejectedUsage.halting()).map(({ id }) => id);
const isEmpty = async () => (await test_.context.bus.journal.lag()) === 0;

/** Appends five events to the journal; the fourth is the bad one. */
async function appendFive(): Promise<UsageEvent> {
  const events = Array.from({ length: 5 }, () => usageEvent(userId));
  for (const event of events)
    await test_.context.bus.journal.append({ id: event.id, body: JSON.stringify(event) });
  const [, , , bad] = events;
  if (bad === undefined) throw new Error('no event');
  return bad;
}

test('an event that the code cannot record halts the recorder, which goes on by itself once it can', async () => {
  const { database } = test_.context;
  const bad = await appendFive();
  let isBroken = true;
  const recorder = await startRecorder(bad.id, () => isBroken);
  await waitUntil(async () => (await gauge()) === '1', { what: 'a halted recorder' });
  expect(recorder.alone()).toBeGreaterThanOrEqual(3);
  await waitUntil(() => recorder.alone() > 6, { what: 'more attempts' });
  // Those before it, once, and none after it.
  expect(await rows()).toBe(3);
  expect(await halting()).toEqual([bad.id]);
  expect(await database.rejectedUsage.count()).toBe(0);
  expect(recorder.reported[0]).toBe(`${bad.id} x is undefined`);
  isBroken = false;
  await waitUntil(isEmpty, { what: 'an empty journal' });
  expect(await rows()).toBe(5);
  expect(await gauge()).toBe('0');
  expect(await database.rejectedUsage.find(bad.id)).toBeUndefined();
  await recorder.stop();
});

test('an operator has the event skipped, also across a restart, and no money is lost', async () => {
  const { database } = test_.context;
  const bad = await appendFive();
  const first = await startRecorder(bad.id);
  await waitUntil(async () => (await halting()).length > 0, { what: 'a halted recorder' });
  await first.stop();
  const second = await startRecorder(bad.id);
  await waitUntil(async () => (await gauge()) === '1', { what: 'a recorder that halts again' });
  expect(await rows()).toBe(3);
  expect(await database.rejectedUsage.skip(newId())).toBe(false);
  expect(await database.rejectedUsage.skip(bad.id)).toBe(true);
  expect(await database.rejectedUsage.skip(bad.id)).toBe(false);
  await waitUntil(isEmpty, { what: 'an empty journal' });
  await second.stop();
  expect(await rows()).toBe(4);
  expect(await gauge()).toBe('0');
  expect(await database.rejectedUsage.list(10)).toMatchObject([
    { id: bad.id, event: JSON.stringify(bad), halts: false },
  ]);
});

test('a new version that can record the event removes it from those in the way', async () => {
  const bad = await appendFive();
  const broken = await startRecorder(bad.id);
  await waitUntil(async () => (await halting()).length > 0, { what: 'a halted recorder' });
  await broken.stop();
  const repaired = await startRecorder(bad.id, () => false);
  await waitUntil(isEmpty, { what: 'an empty journal' });
  await repaired.stop();
  expect(await rows()).toBe(5);
  expect(await halting()).toEqual([]);
});

test('an event at which another recorder halted is no longer in the way once this one has recorded it', async () => {
  const { bus, database } = test_.context;
  const recorder = await startRecorder('none');
  const append = (event: UsageEvent) =>
    bus.journal.append({ id: event.id, body: JSON.stringify(event) });
  await append(usageEvent(userId));
  await waitUntil(async () => (await rows()) === 1, { what: 'a recorded event' });
  const event = usageEvent(userId);
  await database.rejectedUsage.halt({
    id: event.id,
    event: JSON.stringify(event),
    error: 'broken',
  });
  await append(event);
  await waitUntil(isEmpty, { what: 'an empty journal' });
  await recorder.stop();
  expect(await rows()).toBe(2);
  expect(await halting()).toEqual([]);
});

test('failed requests never halt the recorder', async () => {
  const { bus, database } = test_.context;
  const failure = failedRequest(userId);
  const body = JSON.stringify({ kind: 'failures', failures: [failure] });
  await bus.journal.append({ id: 'failures', body });
  const recorder = await startRecorder(failure.id);
  await waitUntil(isEmpty, { what: 'an empty journal' });
  await recorder.stop();
  expect(recorder.alone()).toBeGreaterThanOrEqual(3);
  expect(await database.rejectedUsage.list(10)).toMatchObject([{ id: 'failures' }]);
});
