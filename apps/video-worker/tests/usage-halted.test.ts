import { newId } from '@model-gateway/kernel';
import {
  createTestContext,
  testRedisUrl,
  uniquePrefix,
  usageEvent,
  waitUntil,
} from '@model-gateway/testkit';
import { createVideoWorker } from '../src/app.ts';
import { readVideoWorkerConfig } from '../src/config.ts';

test('a usage event that halts the recorder is one webhook event, and the worker stays ready', async () => {
  const test_ = await createTestContext();
  const { context } = test_;
  const { database, bus } = context;
  const usage = {
    ...database.usage,
    record: () => Promise.reject(new TypeError('x is undefined')),
  };
  const config = readVideoWorkerConfig({
    DATABASE_URL: 'postgres://unused',
    REDIS_URL: testRedisUrl(),
    SERVICE_REDIS_PREFIX: uniquePrefix(),
  });
  const event = usageEvent(newId());
  await bus.journal.append({ id: event.id, body: JSON.stringify(event) });
  const url = await test_.serve(
    createVideoWorker(config, { ...context, database: { ...database, usage } }),
  );
  const stored = () =>
    test_.query(`SELECT data FROM outbox_events WHERE type = 'usage.halted' AND group_id IS NULL`);
  await waitUntil(async () => (await stored()).length > 0, { what: 'an event' });
  const data = { event_id: event.id, error: 'x is undefined' };
  expect(await stored()).toEqual([{ data }]);
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
  await test_.close();
});
