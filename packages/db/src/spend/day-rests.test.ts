import type { SpendFilter } from '@model-gateway/billing';
import { newId } from '@model-gateway/kernel';
import * as fc from 'fast-check';
import { fullSize } from '../../tests/config.ts';
import {
  expectSums,
  forgetAll,
  insertRows,
  someRows,
  wrongDays,
} from '../../tests/expected-spend.ts';
import { DAY_MS, DAYS, filter, START_MS, type Row } from '../../tests/random-usage.ts';
import { openTestDatabase, type OpenedDatabase } from '../../tests/test-database.ts';

const NOW = new Date();
const TODAY_MS = Math.floor(NOW.getTime() / DAY_MS) * DAY_MS;
/** The days of the random rows end with yesterday. */
const LATER_MS = TODAY_MS - DAYS * DAY_MS - START_MS;
const RESTS = `cut = 'account' AND grain = 'rest'`;
const signal = new AbortController().signal;

const later = (moment: Date): Date => new Date(moment.getTime() + LATER_MS);
const laterRows = (rows: readonly Row[]): readonly Row[] =>
  rows.map((row) => ({ ...row, createdAt: later(row.createdAt) }));
const laterFilter = ({ since, until, ...rest }: SpendFilter): SpendFilter => ({
  ...rest,
  since: later(since),
  until: later(until),
});

let database: OpenedDatabase;

beforeAll(async () => {
  database = await openTestDatabase();
  await database.raw.query(
    `SELECT usage_records_ensure_partition(day::date) FROM unnest($1::timestamptz[]) AS day`,
    [[new Date(TODAY_MS - DAYS * DAY_MS), NOW]],
  );
});
afterAll(() => database.close());

/** Every hour of a day as the start, and as the end, of a range of at least a day. */
const RANGES: readonly SpendFilter[] = Array.from({ length: 24 }, (_, hour) => ({
  since: new Date(TODAY_MS + (hour - 72) * 3_600_000),
  until: new Date(TODAY_MS + (hour * 5 - 24) * 3_600_000),
}));

const restLines = (): Promise<readonly { readonly lines: number; readonly whole: number }[]> =>
  database.raw.query(
    `SELECT count(*)::int AS lines, count(DISTINCT since)::int AS whole FROM usage_sums WHERE ${RESTS}`,
  );

test('sums of any period are those of the rows, with rests of days and after rows that come late', async () => {
  await fc.assert(
    fc.asyncProperty(
      someRows(0, 60),
      fc.array(filter, { minLength: 1, maxLength: 4 }),
      async (sample, filters) => {
        await forgetAll(database);
        const rows = laterRows(sample);
        const asked = [...filters.map(laterFilter), ...RANGES.slice(0, 4)];
        const early = rows.slice(0, Math.ceil(rows.length / 2));
        await insertRows(database, early);
        await database.spendSums.sumRests(NOW, signal);
        expect(await wrongDays(database, false)).toEqual([]);
        await expectSums(database, early, asked);
        await insertRows(database, rows.slice(early.length));
        await expectSums(database, rows, asked);
        await database.spendSums.sumRests(NOW, signal);
        expect(await wrongDays(database, false)).toEqual([]);
        await expectSums(database, rows, asked);
      },
    ),
    { numRuns: fullSize(25, { small: 5 }) },
  );
});

test('a range from or to any hour has the sums of the rows', async () => {
  await forgetAll(database);
  const [sample = []] = fc.sample(someRows(60, 60), { numRuns: 1, seed: 19 });
  const rows = laterRows(sample).map((row, index) => ({
    ...row,
    createdAt: new Date(
      row.createdAt.getTime() - (row.createdAt.getTime() % DAY_MS) + index * 1_440_000,
    ),
  }));
  await insertRows(database, rows);
  await database.spendSums.sumRests(NOW, signal);
  await expectSums(database, rows, RANGES);
});

test('rests are read while they are right; a late row makes those before it wrong until they are made again', async () => {
  await forgetAll(database);
  const [first] = laterRows(fc.sample(someRows(1, 1), { numRuns: 1, seed: 3 })[0] ?? []);
  if (first === undefined) throw new Error('no row');
  const noon = new Date(TODAY_MS - DAY_MS / 2);
  const row: Row = { ...first, createdAt: noon, repeats: 0, promptTokens: 1 };
  await insertRows(database, [row]);
  expect(await database.spendSums.sumRests(NOW, signal)).toBe(1);
  expect(await database.spendSums.sumRests(NOW, signal)).toBe(0);
  // Something that only the rests have shows that they are read.
  await database.raw.query(
    `UPDATE usage_sums SET prompt_tokens = 7 WHERE ${RESTS} AND user_id = '${row.userId}'`,
  );
  const asked = { since: noon, until: new Date(TODAY_MS) };
  const promptTokens = async (): Promise<number> =>
    (await database.spend.summary(asked, 'user')).total.promptTokens;
  expect(await promptTokens()).toBe(7);
  expect(await wrongDays(database, false)).toHaveLength(1);
  await insertRows(database, [{ ...row, id: newId() }]);
  expect(await promptTokens()).toBe(2);
  expect(await database.spendSums.sumRests(NOW, signal)).toBe(1);
  expect(await promptTokens()).toBe(2);
  expect(await wrongDays(database, false)).toEqual([]);
});

test('a repair removes rests that are wrong', async () => {
  await forgetAll(database);
  const rows = laterRows(fc.sample(someRows(60, 60), { numRuns: 1, seed: 5 })[0] ?? []);
  await insertRows(database, rows);
  expect(await database.spendSums.sumRests(NOW, signal)).toBeGreaterThan(0);
  await database.raw.query(`UPDATE usage_sums SET cost = cost + 1 WHERE ${RESTS}`);
  const wrong = await wrongDays(database, true);
  expect(wrong.length).toBeGreaterThan(0);
  expect(await wrongDays(database, false)).toEqual([]);
  expect(await database.spendSums.sumRests(NOW, signal)).toBe(wrong.length);
  expect(await wrongDays(database, false)).toEqual([]);
  await expectSums(database, rows, RANGES.slice(0, 3));
});

test('processes that make rests at once make them once, and those of long ago are removed', async () => {
  await forgetAll(database);
  const rows = laterRows(fc.sample(someRows(60, 60), { numRuns: 1, seed: 6 })[0] ?? []);
  await insertRows(database, rows);
  await Promise.all(Array.from({ length: 3 }, () => database.spendSums.sumRests(NOW, signal)));
  expect(await wrongDays(database, false)).toEqual([]);
  const days = new Set(rows.map(({ createdAt }) => createdAt.toISOString().slice(0, 10)));
  expect((await restLines())[0]?.whole).toBe(7 * days.size);
  await database.spendSums.sumRests(new Date(TODAY_MS + 40 * DAY_MS), signal);
  expect((await restLines())[0]?.lines).toBe(0);
  await expectSums(database, rows, RANGES.slice(0, 3));
});

test('making rests ends when its signal aborts', async () => {
  await forgetAll(database);
  await insertRows(
    database,
    laterRows(fc.sample(someRows(60, 60), { numRuns: 1, seed: 8 })[0] ?? []),
  );
  expect(await database.spendSums.sumRests(NOW, AbortSignal.abort())).toBe(0);
});
