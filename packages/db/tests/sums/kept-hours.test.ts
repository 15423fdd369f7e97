import type { SpendFilter } from '@model-gateway/billing';
import { newId } from '@model-gateway/kernel';
import * as fc from 'fast-check';
import { expectSums, forgetAll, insertRows, someRows, wrongDays } from '../expected-spend.ts';
import { DAY_MS, type Row } from '../random-usage.ts';
import { openTestDatabase, type OpenedDatabase } from '../test-database.ts';

const HOUR_MS = 3_600_000;
const NOW = new Date();
const TODAY_MS = Math.floor(NOW.getTime() / DAY_MS) * DAY_MS;
const YESTERDAY = new Date(TODAY_MS - DAY_MS).toISOString().slice(0, 10);
const DAY_BEFORE = new Date(TODAY_MS - 2 * DAY_MS).toISOString().slice(0, 10);

let database: OpenedDatabase;

beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

/** Random rows of yesterday at any minute: many of one user, few of others; some of the day before. */
function rowsOf(seed: number, count: number): readonly Row[] {
  const sample = fc.sample(someRows(60, 60), { numRuns: 1, seed })[0] ?? [];
  const minutes = fc.sample(fc.integer({ min: 0, max: 1439 }), { numRuns: count, seed });
  const [busy] = sample;
  return minutes.flatMap((minute, index) => {
    const row = sample[index % sample.length];
    if (row === undefined || busy === undefined) return [];
    const day = index % 11 === 0 ? 2 : 1;
    const createdAt = new Date(TODAY_MS - day * DAY_MS + minute * 60_000);
    const userId = index % 7 === 0 ? row.userId : busy.userId;
    return [{ ...row, id: newId(), userId, createdAt }];
  });
}

/** What the user with most rows asks about: parts of days, and charts of up to 30 hours. */
const rangesOf = (userId: string): readonly SpendFilter[] =>
  [0, 1, 7, 12, 13.5, 23].flatMap((hour) => [
    {
      userId,
      since: new Date(TODAY_MS - DAY_MS + hour * HOUR_MS),
      until: new Date(TODAY_MS + DAY_MS),
    },
    {
      userId,
      model: 'gpt-4o',
      since: new Date(TODAY_MS - 2 * DAY_MS + 18 * HOUR_MS),
      until: new Date(TODAY_MS - DAY_MS + hour * HOUR_MS + 1),
    },
  ]);

test('sums of all dimensions are those of the rows, for parts of days and by the hour', async () => {
  await forgetAll(database);
  const rows = rowsOf(3, 1_000);
  await insertRows(database, rows);
  await expectSums(database, rows, rangesOf(rows[1]?.userId ?? ''));
  expect(await wrongDays(database, false)).toEqual([]);
});

test('the hours of accounts and of all dimensions are read, a check finds wrong ones and a repair corrects them', async () => {
  await forgetAll(database);
  const rows = rowsOf(5, 1_000);
  const userId = rows[1]?.userId ?? '';
  await insertRows(database, rows);
  const asked = {
    userId,
    since: new Date(TODAY_MS - DAY_MS / 2),
    until: new Date(TODAY_MS),
  };
  const points = async (by: 'model' | 'hour'): Promise<number> =>
    (await database.spend.summary({ ...asked, model: 'gpt-4o' }, by)).total.points;
  const before = await points('model');
  // Something that only these lines have shows that they are read.
  await database.raw.query('UPDATE usage_by_all_hour SET points = points + 1000');
  expect(await points('model')).toBeGreaterThan(before + 999);
  expect(await points('hour')).toBeGreaterThan(before + 999);
  await database.raw.query('DELETE FROM usage_by_account_hour');
  expect((await database.spend.summary(asked, 'hour')).groups).toEqual([]);
  const wrong = [YESTERDAY, DAY_BEFORE];
  expect(await wrongDays(database, false)).toEqual(wrong);
  expect(await wrongDays(database, true)).toEqual(wrong);
  expect(await points('model')).toBe(before);
});

test('hours are kept for two months, those of accounts for four; of earlier ones the rows are read', async () => {
  await forgetAll(database);
  const rows = rowsOf(7, 1_000);
  await insertRows(database, rows);
  const hours = async (): Promise<readonly string[]> => {
    const found = await database.raw.query<{ name: string }>(`
      SELECT 'all' AS name WHERE EXISTS (SELECT FROM usage_by_all_hour)
      UNION SELECT 'account' WHERE EXISTS (SELECT FROM usage_by_account_hour) ORDER BY 1`);
    return found.map(({ name }) => name);
  };
  /** On the second day of a month after the rows. */
  const forgetAfter = (months: number) =>
    database.spendSums.forgetHours(
      new Date(Date.UTC(NOW.getUTCFullYear(), NOW.getUTCMonth() + months, 2)),
    );
  await forgetAfter(1);
  expect(await hours()).toEqual(['account', 'all']);
  expect(await forgetAfter(3)).toBeGreaterThan(0);
  expect(await hours()).toEqual(['account']);
  expect(await forgetAfter(5)).toBeGreaterThan(0);
  expect(await hours()).toEqual([]);
  expect(await forgetAfter(5)).toBe(0);

  for (const [days, left] of [
    [100, ['account']],
    [190, []],
  ] as const) {
    const before = (moment: Date): Date => new Date(moment.getTime() - days * DAY_MS);
    const old = rows.map((row) => ({ ...row, id: newId(), createdAt: before(row.createdAt) }));
    await forgetAll(database);
    await insertRows(database, old);
    await database.spendSums.forgetHours(NOW);
    expect(await hours()).toEqual(left);
    expect(await wrongDays(database, false)).toEqual([]);
    const ranges = rangesOf(rows[1]?.userId ?? '').map((range) => ({
      ...range,
      since: before(range.since),
      until: before(range.until),
    }));
    await expectSums(database, old, ranges);
  }
});
