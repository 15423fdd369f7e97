import { newId, silentLog } from '@model-gateway/kernel';
import { createCuttableProxy } from '../cuttable-proxy.ts';
import { openTestDatabase } from '../test-database.ts';
import { usageEvent } from '../usage-event.ts';
import { createDatabase } from '../../src/database.ts';

test('usage is read from the standby while it answers, and from the primary while it does not', async () => {
  // The standby lags for good: it has one of the two requests.
  const primary = await openTestDatabase();
  const standby = await openTestDatabase();
  const proxy = await createCuttableProxy(standby.raw.url);
  const warnings: string[] = [];
  const log = { ...silentLog, warn: (_fields: object, text: string) => void warnings.push(text) };
  const database = createDatabase({ databaseUrl: primary.raw.url, readUrl: proxy.url, log });
  const userId = newId();
  const options = { pointsPerUsd: 100 };
  const events = [usageEvent({ user_id: userId }), usageEvent({ user_id: userId })];
  const idOf = (index: number): string => events[index]?.id ?? '';
  const isFound = async (id: string) => (await database.requestLog.find(id)) !== undefined;
  try {
    await database.usage.record(events, options);
    await standby.usage.record(events.slice(0, 1), options);
    expect(await isFound(idOf(0))).toBe(true);
    expect(await isFound(idOf(1))).toBe(false);

    await proxy.cut();
    expect(await isFound(idOf(1))).toBe(true);
    expect(await isFound(idOf(1))).toBe(true);
    expect(warnings.filter((text) => text.includes('the standby did not answer'))).toHaveLength(1);
  } finally {
    await database.close();
    await proxy.close();
    await Promise.all([primary.close(), standby.close()]);
  }
});
