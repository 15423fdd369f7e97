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
const LARGE = newId();
const PROJECT = 'shop';
const MADE = `cut = 'group-project'`;
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

/** Random rows of yesterday at any minute: many of one group, few of others; some of the day before, and of today. */
function rowsOf(seed: number, count: number): readonly Row[] {
  const sample = fc.sample(someRows(60, 60), { numRuns: 1, seed })[0] ?? [];
  const minutes = fc.sample(fc.integer({ min: 0, max: 1439 }), { numRuns: count, seed });
  return minutes.flatMap((minute, index) => {
    const row = sample[index % sample.length];
    if (row === undefined) return [];
    const day = index % 11 === 0 ? 2 : 1;
    const createdAt =
      index % 13 === 0
        ? new Date(TODAY_MS + 1)
        : new Date(TODAY_MS - day * DAY_MS + minute * 60_000);
    const groupId = index % 7 === 0 ? row.groupId : LARGE;
    return [{ ...row, id: newId(), groupId, createdAt }];
  });
}

/** Charts of up to 30 hours and parts of days, of the group and of a project in it. */
const RANGES: readonly SpendFilter[] = [0, 1, 12, 13.5, 23].flatMap((hour) => [
  {
    groupId: LARGE,
    project: PROJECT,
    since: new Date(TODAY_MS - DAY_MS + hour * HOUR_MS),
    until: new Date(TODAY_MS + DAY_MS),
  },
  {
    groupId: LARGE,
    since: new Date(TODAY_MS - 2 * DAY_MS + 18 * HOUR_MS),
    until: new Date(TODAY_MS - DAY_MS + hour * HOUR_MS + 1),
  },
]);

const madeGroups = async (): Promise<readonly string[]> =>
  (
    await database.raw.query<{ group_id: string }>(
      `SELECT DISTINCT group_id::text FROM usage_sums WHERE ${MADE}`,
    )
  ).map(({ group_id: groupId }) => groupId);

test('sums of a project in a group are those of the rows, by the hour too, and after rows that come late', async () => {
  await forgetAll(database);
  const rows = rowsOf(3, 840);
  const early = rows.slice(0, 800);
  await insertRows(database, early);
  expect(await database.spendSums.sumRests(NOW, signal)).toBe(2);
  expect(await madeGroups()).toEqual([LARGE]);
  await expectSums(database, early, RANGES);
  expect(await wrongDays(database, false)).toEqual([]);
  await insertRows(database, rows.slice(early.length));
  await expectSums(database, rows, RANGES);
  await database.spendSums.sumRests(NOW, signal);
  await expectSums(database, rows, RANGES);
  expect(await wrongDays(database, false)).toEqual([]);
});

test('hours of a project in a group are read while they are right, a check finds wrong ones and a repair removes them', async () => {
  await forgetAll(database);
  await insertRows(database, rowsOf(5, 800));
  await database.spendSums.sumRests(NOW, signal);
  const asked = { groupId: LARGE, project: PROJECT, until: new Date(TODAY_MS) };
  const points = async (hours: number): Promise<number> =>
    (
      await database.spend.summary(
        { ...asked, since: new Date(TODAY_MS - hours * HOUR_MS) },
        'hour',
      )
    ).total.points;
  const before = [await points(12), await points(24)];
  // Something that only these lines have shows that they are read.
  await database.raw.query(`UPDATE usage_sums SET points = points + 1000 WHERE ${MADE}`);
  expect(await points(12)).toBeGreaterThan((before[0] ?? 0) + 999);
  expect(await points(24)).toBeGreaterThan((before[1] ?? 0) + 999);
  expect(await wrongDays(database, false)).toEqual([YESTERDAY]);
  expect(await wrongDays(database, true)).toEqual([YESTERDAY]);
  expect(await madeGroups()).toEqual([]);
  expect([await points(12), await points(24)]).toEqual(before);
  await database.spendSums.sumRests(NOW, signal);
  expect(await madeGroups()).toEqual([LARGE]);
  expect([await points(12), await points(24)]).toEqual(before);
  await database.spendSums.sumRests(new Date(TODAY_MS + 40 * DAY_MS), signal);
  expect(await madeGroups()).toEqual([]);
});
