import type { AdmissionFacts, AdmissionStore } from '@model-gateway/billing';
import { REQUESTS_CHANNEL, ServiceError, type UsageEvent } from '@model-gateway/contracts';
import { newId, type Journal } from '@model-gateway/kernel';
import { createTestContext, usageEvent, waitUntil, type TestContext } from '@model-gateway/testkit';
import { createRecorder } from '../src/recorder.ts';
import { failedRequest } from './failed-request.ts';

let test_: TestContext;
beforeEach(async () => {
  test_ = await createTestContext();
});
afterEach(() => test_.close());

const append = (body: unknown, id = newId()) =>
  test_.context.bus.journal.append({ id, body: JSON.stringify(body) });

/** Returns what stops it. */
async function recordUntilStopped(admission?: Pick<AdmissionStore, 'updateHints'>) {
  const { bus, database, metrics, log } = test_.context;
  const recorder = createRecorder({
    journal: bus.journal,
    usage: database.usage,
    rejectedUsage: database.rejectedUsage,
    admission: admission ?? bus.admission,
    channels: bus.channels,
    onHalted: async () => undefined,
    pointsPerUsd: 100,
    metrics,
    log,
  });
  await recorder.start();
  return () => recorder.stop();
}

/** Records until the journal is empty. */
async function recordAll(admission?: Pick<AdmissionStore, 'updateHints'>) {
  const stop = await recordUntilStopped(admission);
  const { journal } = test_.context.bus;
  await waitUntil(async () => (await journal.lag()) === 0, { what: 'an empty journal' });
  await stop();
}

test('every event becomes one row, also a repeated one, and an invalid entry does not block the others', async () => {
  const { database, metrics } = test_.context;
  const userId = newId();
  const events = Array.from({ length: 20 }, () => usageEvent(userId));
  for (const one of events) await append(one, one.id);
  await append('not an event');
  await append({ ...usageEvent(userId), total_tokens: -1 });
  for (const one of events) await append(one, one.id);

  await recordAll();

  const { total, records } = await database.usage.list({ userId, limit: 100, offset: 0 });
  expect(total).toBe(20);
  expect(new Set(records.map(({ id }) => id))).toEqual(new Set(events.map(({ id }) => id)));
  expect(await metrics.expose()).toContain('service_usage_recorded_total 20');
});

test('the attempts and the id of the client are in the request log once, until they are too old', async () => {
  const { requestLog, requestLogStore, usage } = test_.context.database;
  const userId = newId();
  const attempts = [
    { backend: 'a', model: 'm', outcome: 'failed', reason: 'server_error', status: 503, ms: 5 },
    { backend: 'b', model: 'm', outcome: 'answered', reason: null, status: null, ms: 7 },
  ] as const;
  const detailed = usageEvent(userId, { request_id: 'mine', attempts: [...attempts] });
  const plain = usageEvent(userId);
  for (const one of [detailed, plain, detailed]) await append(one, one.id);

  await recordAll();

  const { requests } = await requestLog.list({ requestId: 'mine' }, { limit: 10 });
  expect(requests).toMatchObject([{ id: detailed.id, requestId: 'mine', attempts }]);
  const without = { requestId: plain.id, attempts: null };
  expect(await requestLog.find(plain.id)).toMatchObject(without);
  const createdAt = new Date(detailed.created_at);
  const bodies = { id: detailed.id, createdAt, userId, request: 'Hi', answer: 'Hello' };
  await requestLogStore.addBodies([bodies]);
  expect(await requestLog.bodiesOf(detailed.id)).toEqual({ request: 'Hi', answer: 'Hello' });
  const later = new Date(createdAt.getTime() + 2 * 86_400_000);
  expect(await requestLogStore.removeBodies(later, 10)).toBe(1);
  expect(await requestLogStore.removeRows(later, 10)).toBe(1);
  expect(await requestLog.bodiesOf(detailed.id)).toBeUndefined();
  // The bill stays.
  expect(await requestLog.find(detailed.id)).toMatchObject({ attempts: null, cost: 0.25 });
  expect(await usage.list({ userId, limit: 10, offset: 0 })).toMatchObject({ total: 2 });
});

test('recorded usage is announced, and the admission store gets it immediately', async () => {
  const { bus } = test_.context;
  const userId = newId();
  const notices: string[] = [];
  const subscription = await bus.channels.subscribe(REQUESTS_CHANNEL, (notice) =>
    notices.push(notice),
  );
  await append(usageEvent(userId));
  await recordAll();
  await waitUntil(() => notices.some((notice) => notice.includes(userId)));
  await subscription.close();
  const answer = await bus.admission.admit({
    knownEpoch: Number.MAX_SAFE_INTEGER,
    limits: [],
    window: { userId, month: new Date().toISOString().slice(0, 7) },
    account: { type: 'user', id: userId },
  });
  expect(answer).toMatchObject({
    outcome: 'admitted',
    window: { costUsd: 0.25, tokens: 3, version: 1 },
    account: { balance: 0, hasHistory: false, increases: 0, version: 0 },
  });
});

test('failed requests are stored, counted and announced once, also in an entry that comes twice', async () => {
  const { bus, database } = test_.context;
  const userId = newId();
  const notices: string[] = [];
  const subscription = await bus.channels.subscribe(REQUESTS_CHANNEL, (notice) =>
    notices.push(notice),
  );
  const failures = [failedRequest(userId), failedRequest(userId, { repeats: 5 })];
  await append({ kind: 'failures', failures }, 'twice');
  await append(usageEvent(userId, { created_at: '2026-03-02T10:00:00.000Z' }));
  await append({ kind: 'failures', failures }, 'twice');
  await recordAll();
  await append({ kind: 'failures', failures: [...failures, failedRequest(userId)] });
  await recordAll();

  const { requests } = await database.requestLog.list({ userId }, { limit: 10 });
  expect(requests).toHaveLength(4);
  const counted = await test_.query(
    `SELECT sum(requests)::int AS requests, sum(failed)::int AS failed
     FROM usage_by_account_day WHERE user_id = $1`,
    [userId],
  );
  expect(counted).toEqual([{ requests: 1, failed: 7 }]);
  await waitUntil(() => notices.length >= 2);
  await subscription.close();
  expect(notices.every((notice) => notice.includes(userId))).toBe(true);
});

test('failed requests that cannot be stored are set aside, and the usage of their batch is recorded', async () => {
  const { database } = test_.context;
  const userId = newId();
  const failures = [failedRequest(userId, { createdAt: new Date('0000-01-01T00:00:00Z') })];
  await append({ kind: 'failures', failures }, 'unstorable');
  await append({ kind: 'failures', failures: [{ ...failedRequest(userId), repeats: 0 }] }, 'odd');
  await append(usageEvent(userId));
  await recordAll();
  const waiting = await database.rejectedUsage.list(10);
  expect(waiting.map(({ id }) => id).toSorted()).toEqual(['odd', 'unstorable']);
  expect(await database.usage.list({ userId, limit: 1, offset: 0 })).toMatchObject({ total: 1 });
});

test('an event of an older gateway is recorded, also when publishing to the admission store fails', async () => {
  const { database } = test_.context;
  const userId = newId();
  const { multiplier: _multiplier, ...older } = usageEvent(userId);
  await append(older);
  await recordAll({ updateHints: () => Promise.reject(new Error('unavailable')) });
  expect(await database.usage.list({ userId, limit: 1, offset: 0 })).toMatchObject({
    total: 1,
    records: [{ cost: 0.25, points: null }],
  });
});

test('calls whose usage is recorded count as unsettled no longer, also when publishing failed at first', async () => {
  const userId = newId();
  const published: AdmissionFacts[] = [];
  let failures = 1;
  const updateHints = async (facts: AdmissionFacts): Promise<void> => {
    failures -= 1;
    if (failures >= 0) throw new Error('unavailable');
    published.push(facts);
  };
  const stop = await recordUntilStopped({ updateHints });
  await append(usageEvent(userId, { call_id: 'a' }));
  await waitUntil(async () => failures === 0, { what: 'a failure' });
  await append(usageEvent(userId));
  await append(usageEvent(userId, { call_id: 'b' }));
  const settled = () => published.flatMap((facts) => facts.settled ?? []);
  await waitUntil(async () => settled().length === 2, { what: 'two settled calls' });
  expect(settled()).toEqual([
    { id: 'a', userId },
    { id: 'b', userId },
  ]);
  await stop();
});

// Postgres has no year 0.
const unstorable = (userId: string): UsageEvent =>
  usageEvent(userId, { created_at: '0000-01-01T00:00:00Z' });

test('an event that cannot be stored is set aside, and the others of its batch are recorded', async () => {
  const { database, metrics } = test_.context;
  const userId = newId();
  const [first, second] = [unstorable(userId), unstorable(userId)];
  const good = Array.from({ length: 20 }, () => usageEvent(userId));
  const events = [...good.slice(0, 3), first, ...good.slice(3, 12), second, ...good.slice(12)];
  for (const one of events) await append(one, one.id);
  await append('not an event', 'odd');

  await recordAll();

  expect(await database.usage.list({ userId, limit: 1, offset: 0 })).toMatchObject({ total: 20 });
  const waiting = await database.rejectedUsage.list(10);
  expect(waiting.map(({ id }) => id).toSorted()).toEqual([first.id, second.id, 'odd'].toSorted());
  expect(waiting.find(({ id }) => id === first.id)).toMatchObject({
    event: JSON.stringify(first),
    error: expect.stringContaining('out of range'),
    attempts: 1,
  });
  const exposed = await metrics.expose();
  expect(exposed).toContain('service_usage_recorded_total 20');
  expect(exposed).toContain('service_usage_rejected_total 3');
  expect(exposed).toContain('service_usage_rejected_waiting 3');
});

/** A journal that delivers one batch again and again, without pauses, until it is recorded. */
function journalOf(events: readonly UsageEvent[]): Journal & { readonly recorded: Promise<void> } {
  const batch = events.map((one) => ({ id: one.id, body: JSON.stringify(one) }));
  let onRecorded = (): void => undefined;
  return {
    recorded: new Promise((resolve) => {
      onRecorded = resolve;
    }),
    append: () => Promise.resolve(),
    async drain(record) {
      for (let isRecorded = false; !isRecorded;) {
        isRecorded = await record(batch).then(
          () => true,
          () => false,
        );
      }
      onRecorded();
    },
    lag: () => Promise.resolve(0),
  };
}

test('an outage of the store sets nothing aside, however long and wherever it begins', async () => {
  const { bus, database, metrics, log } = test_.context;
  const userId = newId();
  const bad = unstorable(userId);
  const journal = journalOf([usageEvent(userId), bad, usageEvent(userId)]);
  const outage = new ServiceError('store_unavailable', 'outage');
  // Undefined is a call that the store serves: the batch is rejected three times, and while it is split the store fails.
  const failures = [
    ...Array.from({ length: 20 }, () => outage),
    undefined,
    undefined,
    undefined,
    outage,
    new Error('canceling statement due to statement timeout'),
  ];
  const setAsideBefore: number[] = [];
  const recorder = createRecorder({
    journal,
    usage: {
      async record(events, rate) {
        const failure = failures.shift();
        if (failure === undefined) return database.usage.record(events, rate);
        setAsideBefore.push(await database.rejectedUsage.count());
        throw failure;
      },
    },
    rejectedUsage: database.rejectedUsage,
    admission: bus.admission,
    onHalted: async () => undefined,
    pointsPerUsd: 100,
    metrics,
    log,
  });
  await recorder.start();
  await journal.recorded;
  await recorder.stop();
  expect(setAsideBefore).toEqual(Array.from({ length: 22 }, () => 0));
  expect(await database.usage.list({ userId, limit: 1, offset: 0 })).toMatchObject({ total: 2 });
  expect(await database.rejectedUsage.list(10)).toMatchObject([{ id: bad.id }]);
});

test('a batch that is too much for the store is recorded in smaller parts, each event once', async () => {
  const { bus, database, metrics, log } = test_.context;
  const userId = newId();
  const events = Array.from({ length: 1000 }, () => usageEvent(userId));
  const journal = journalOf(events);
  const tried: number[] = [];
  const recorded: string[] = [];
  const recorder = createRecorder({
    journal,
    usage: {
      async record(part, rate) {
        tried.push(part.length);
        if (part.length > 300) throw new ServiceError('store_unavailable', 'too slow');
        recorded.push(...part.map(({ id }) => id));
        return database.usage.record(part, rate);
      },
    },
    rejectedUsage: database.rejectedUsage,
    admission: bus.admission,
    onHalted: async () => undefined,
    pointsPerUsd: 100,
    metrics,
    log,
  });
  await recorder.start();
  await journal.recorded;
  await recorder.stop();
  expect(tried).toEqual([1000, 500, 250, 350, 175, 275, 300]);
  expect(recorded).toEqual(events.map(({ id }) => id));
  expect(await database.usage.list({ userId, limit: 1, offset: 0 })).toMatchObject({ total: 1000 });
});
