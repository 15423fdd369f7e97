import type { SpendFilter } from '@model-gateway/billing';
import { newId } from '@model-gateway/kernel';
import * as fc from 'fast-check';
import {
  expectSums,
  forgetAll,
  insertRows,
  someRows,
  wrongDays,
} from '../../tests/expected-spend.ts';
import { DAY_MS, type Row } from '../../tests/random-usage.ts';
import { openTestDatabase, type OpenedDatabase } from '../../tests/test-database.ts';

const HOUR_MS = 3_600_000;
const NOW = new Date();
const TODAY_MS = Math.floor(NOW.getTime() / DAY_MS) * DAY_MS;
const YESTERDAY = new Date(TODAY_MS - DAY_MS).toISOString().slice(0, 10);
const BUSY = `cut = 'busy'`;
const signal = new AbortController().signal;

let database: OpenedDatabase;

beforeAll(async () => {
  database = await openTestDatabase();
  await database.raw.query(
    `SELECT usage_records_ensure_partition(day::date) FROM unnest($1::timestamptz[]) AS day`,
    [[new Date(TODAY_MS - 2 * DAY_MS), NOW]],
  );
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

/** What the busy user asks about: parts of days, and charts of up to 30 hours. */
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

const busyUsers = async (): Promise<readonly string[]> =>
  (
    await database.raw.query<{ user_id: string }>(
      `SELECT DISTINCT user_id::text FROM usage_sums WHERE ${BUSY}`,
    )
  ).map(({ user_id: userId }) => userId);

test('sums of a busy user are those of the rows, for parts of days and by the hour, and after rows that come late', async () => {
  await forgetAll(database);
  const rows = rowsOf(3, 1_040);
  const early = rows.slice(0, 1_000);
  const userId = early[1]?.userId ?? '';
  await insertRows(database, early);
  expect(await database.spendSums.sumRests(NOW, signal)).toBe(2);
  expect(await busyUsers()).toEqual([userId]);
  await expectSums(database, early, rangesOf(userId));
  expect(await wrongDays(database, false)).toEqual([]);
  await insertRows(database, rows.slice(early.length));
  await expectSums(database, rows, rangesOf(userId));
  await database.spendSums.sumRests(NOW, signal);
  await expectSums(database, rows, rangesOf(userId));
  expect(await wrongDays(database, false)).toEqual([]);
});

test('hours of a busy user are read while they are right, a check finds wrong ones and a repair removes them', async () => {
  await forgetAll(database);
  const rows = rowsOf(5, 1_000);
  const userId = rows[1]?.userId ?? '';
  await insertRows(database, rows);
  await database.spendSums.sumRests(NOW, signal);
  const asked = {
    userId,
    since: new Date(TODAY_MS - DAY_MS / 2),
    until: new Date(TODAY_MS),
  };
  const points = async (by: 'model' | 'hour'): Promise<number> =>
    (await database.spend.summary({ ...asked, model: 'gpt-4o' }, by)).total.points;
  const before = await points('model');
  // Something that only these lines have shows that they are read.
  await database.raw.query(`UPDATE usage_sums SET points = points + 1000 WHERE ${BUSY}`);
  expect(await points('model')).toBeGreaterThan(before + 999);
  expect(await points('hour')).toBeGreaterThan(before + 999);
  expect(await wrongDays(database, false)).toEqual([YESTERDAY]);
  expect(await wrongDays(database, true)).toEqual([YESTERDAY]);
  expect(await busyUsers()).toEqual([]);
  expect(await points('model')).toBe(before);
  await database.spendSums.sumRests(NOW, signal);
  expect(await busyUsers()).toEqual([userId]);
  expect(await points('model')).toBe(before);
  await database.spendSums.sumRests(new Date(TODAY_MS + 40 * DAY_MS), signal);
  expect(await busyUsers()).toEqual([]);
});
