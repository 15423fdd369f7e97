import type { AdmissionStore } from '@model-gateway/billing';
import type { UsageEvent } from '@model-gateway/contracts';
import { newId } from '@model-gateway/kernel';
import { createTestContext, waitUntil, type TestContext } from '@model-gateway/testkit';
import { createRecorder } from '../src/recorder.ts';

let test_: TestContext;
beforeEach(async () => {
  test_ = await createTestContext();
});
afterEach(() => test_.close());

function event(userId: string): UsageEvent {
  return {
    id: newId(),
    user_id: userId,
    key_id: null,
    api_key_id: `jwt-${userId}`,
    project: null,
    group_id: null,
    model: 'm',
    backend: 'gateway',
    prompt_tokens: 1,
    completion_tokens: 2,
    total_tokens: 3,
    cost: 0.25,
    multiplier: 1,
    ref_id: null,
    created_at: new Date().toISOString(),
  };
}

const append = (body: unknown, id = newId()) =>
  test_.context.bus.journal.append({ id, body: JSON.stringify(body) });

/** Records until the journal is empty. */
async function recordAll(admission?: Pick<AdmissionStore, 'updateHints'>) {
  const { bus, database, metrics, log } = test_.context;
  const recorder = createRecorder({
    journal: bus.journal,
    usage: database.usage,
    admission: admission ?? bus.admission,
    pointsPerUsd: 100,
    metrics,
    log,
  });
  await recorder.start();
  await waitUntil(async () => (await bus.journal.lag()) === 0, { what: 'an empty journal' });
  await recorder.stop();
}

test('every event becomes one row, also a repeated one, and an invalid entry does not block the others', async () => {
  const { database, metrics } = test_.context;
  const userId = newId();
  const events = Array.from({ length: 20 }, () => event(userId));
  for (const one of events) await append(one, one.id);
  await append('not an event');
  await append({ ...event(userId), total_tokens: -1 });
  for (const one of events) await append(one, one.id);

  await recordAll();

  const { total, records } = await database.usage.list({ userId, limit: 100, offset: 0 });
  expect(total).toBe(20);
  expect(new Set(records.map(({ id }) => id))).toEqual(new Set(events.map(({ id }) => id)));
  expect(await metrics.expose()).toContain('service_usage_recorded_total 20');
});

test('the admission store gets recorded usage immediately', async () => {
  const { bus } = test_.context;
  const userId = newId();
  await append(event(userId));
  await recordAll();
  const answer = await bus.admission.admit({
    knownEpoch: Number.MAX_SAFE_INTEGER,
    limits: [],
    window: { userId, project: null, month: new Date().toISOString().slice(0, 7) },
    account: { type: 'user', id: userId },
  });
  expect(answer).toMatchObject({
    outcome: 'passed',
    window: { costUsd: 0.25, tokens: 3, version: 1 },
    account: { balance: 0, hasHistory: false, refusedUntil: null, version: 0 },
  });
});

test('an event of an older gateway is recorded, also when publishing to the admission store fails', async () => {
  const { database } = test_.context;
  const userId = newId();
  const { multiplier: _multiplier, ...older } = event(userId);
  await append(older);
  await recordAll({ updateHints: () => Promise.reject(new Error('unavailable')) });
  expect(await database.usage.list({ userId, limit: 1, offset: 0 })).toMatchObject({
    total: 1,
    records: [{ cost: 0.25, points: null }],
  });
});
