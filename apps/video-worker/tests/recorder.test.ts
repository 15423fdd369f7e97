import { newId } from '@model-gateway/kernel';
import { createTestContext, waitUntil, type TestContext } from '@model-gateway/testkit';
import { createRecorder } from '../src/recorder.ts';

let test_: TestContext;
beforeEach(async () => {
  test_ = await createTestContext();
});
afterEach(() => test_.close());

function event(userId: string) {
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
    cost: null,
    ref_id: null,
    created_at: new Date().toISOString(),
  };
}

test('every event becomes one row, an event that comes twice too, and one that is no event holds up nobody', async () => {
  const { bus, database, metrics, log } = test_.context;
  const userId = newId();
  const events = Array.from({ length: 20 }, () => event(userId));
  const append = (id: string, body: string) => bus.journal.append({ id, body });
  for (const one of events) await append(one.id, JSON.stringify(one));
  await append(newId(), 'not an event');
  await append(newId(), JSON.stringify({ ...event(userId), total_tokens: -1 }));
  for (const one of events) await append(one.id, JSON.stringify(one));

  const recorder = createRecorder({ journal: bus.journal, usage: database.usage, metrics, log });
  await recorder.start();
  await waitUntil(async () => (await bus.journal.lag()) === 0, { what: 'an empty journal' });
  await recorder.stop();

  const { total, records } = await database.usage.list({ userId, limit: 100, offset: 0 });
  expect(total).toBe(20);
  expect(new Set(records.map(({ id }) => id))).toEqual(new Set(events.map(({ id }) => id)));
  expect(await metrics.expose()).toContain('service_usage_recorded_total 20');
});
