import { UsageRejectedError } from '@model-gateway/billing';
import { openTestDatabase, type OpenedDatabase } from '../test-database.ts';
import { usageEvent as event } from '../usage-event.ts';

describe('rejected usage in Postgres', () => {
  let database: OpenedDatabase;

  beforeAll(async () => {
    database = await openTestDatabase();
  });
  afterAll(() => database.close());

  it('keeps an event once, whatever its text, and counts the attempts', async () => {
    const { rejectedUsage } = database;
    await rejectedUsage.add({ id: 'a', event: '{"model":"\\u0000"}', error: 'first \u0000' });
    const first = await rejectedUsage.find('a');
    await rejectedUsage.add({ id: 'a', event: '{"model":"\\u0000"}', error: 'x'.repeat(5_000) });
    expect(await rejectedUsage.count()).toBe(1);
    const [again] = await rejectedUsage.list(10);
    expect(first).toMatchObject({ event: '{"model":"\\u0000"}', error: 'first ', attempts: 1 });
    expect(again).toMatchObject({ error: 'x'.repeat(2_000), attempts: 2 });
    expect(again?.firstRejectedAt).toEqual(first?.firstRejectedAt);
    expect(again?.lastRejectedAt.getTime()).toBeGreaterThanOrEqual(
      first?.lastRejectedAt.getTime() ?? 0,
    );
    expect(await rejectedUsage.take('a')).toEqual(again);
    expect(await rejectedUsage.take('a')).toBeUndefined();
    expect(await rejectedUsage.find('a')).toBeUndefined();
  });

  it('differs from failures that pass', async () => {
    const record = (values: Parameters<typeof event>[0]) =>
      database.usage.record([event(), event(values)], { pointsPerUsd: 100 });
    const refused = record({ created_at: '0000-01-01T00:00:00Z' });
    await expect(refused).rejects.toThrow(UsageRejectedError);
    await database.raw.query('ALTER TABLE usage_records RENAME TO usage_records_renamed');
    await expect(record({})).rejects.not.toThrow(UsageRejectedError);
    await database.raw.query('ALTER TABLE usage_records_renamed RENAME TO usage_records');
    expect((await record({})).added).toBe(2);
  });
});
