import type { RequestFilter, RequestPosition } from '@model-gateway/billing';
import { newId, silentLog } from '@model-gateway/kernel';
import * as fc from 'fast-check';
import { fullSize } from '../../tests/config.ts';
import {
  compareKeys,
  expectSums,
  forgetAll,
  groupsOf,
  insertRows,
  isIn,
  KEY_OF,
  someRows,
  sumOf,
  wrongDays,
} from '../../tests/expected-spend.ts';
import { DAY_MS, START_MS, DAYS, sometimes, filter, type Row } from '../../tests/random-usage.ts';
import { openTestDatabase, type OpenedDatabase } from '../../tests/test-database.ts';
import { createDatabase } from '../database.ts';

let database: OpenedDatabase;

beforeAll(async () => {
  database = await openTestDatabase();
  // Days are UTC days, whatever the clock of the database says.
  await database.raw.query(
    `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET timezone = %L', current_database(), 'America/New_York'); END $$`,
  );
  await database.raw.query(
    `SELECT usage_records_ensure_partition('2025-02-01'), usage_records_ensure_partition('2025-03-01')`,
  );
});
afterAll(() => database.close());

test('the sums of every grouping are those of the rows, for any period and filter', async () => {
  await fc.assert(
    fc.asyncProperty(
      someRows(0, 60),
      fc.array(filter, { minLength: 1, maxLength: 4 }),
      async (rows, filters) => {
        await forgetAll(database);
        const half = Math.floor(rows.length / 2);
        await insertRows(database, rows.slice(0, half));
        await insertRows(database, rows.slice(half));
        const all = { since: new Date(START_MS), until: new Date(START_MS + DAYS * DAY_MS) };
        await expectSums(database, rows, [...filters, all]);
      },
    ),
    { numRuns: fullSize(40, { small: 8 }) },
  );
});

test('a check finds every line that is wrong, missing or too much, and a repair makes all equal the rows', async () => {
  await forgetAll(database);
  const [rows = []] = fc.sample(someRows(60, 60), { numRuns: 1, seed: 7 });
  await insertRows(database, rows);
  expect(await wrongDays(database, false)).toEqual([]);
  const days = [...new Set(rows.map(KEY_OF.day))].toSorted(compareKeys).toReversed();
  const broken = [
    `UPDATE usage_sums SET cost = cost + 0.01 WHERE cut = 'all'`,
    `DELETE FROM usage_sums WHERE cut = 'account' AND grain = 'hour'`,
    `UPDATE usage_sums SET failed = failed + 1 WHERE cut = 'project'`,
    `INSERT INTO usage_sums SELECT cut, grain, since, user_id, key_id, group_id, project, model || '?', upstream, requests,
       errors, failed, prompt_tokens, completion_tokens, cached_tokens, total_tokens, cost, points
     FROM usage_sums WHERE cut = 'model' AND grain = 'day'`,
  ];
  for (const harm of broken) {
    await database.raw.query(harm);
    expect(await wrongDays(database, false)).toEqual(days);
    expect(await wrongDays(database, true)).toEqual(days);
    expect(await wrongDays(database, false)).toEqual([]);
  }
  await expectSums(database, rows, [
    { since: new Date(START_MS), until: new Date(START_MS + DAYS * DAY_MS) },
  ]);
});

const NEW_HOURS = `grain = 'hour' AND cut IN ('project', 'group-model')`;

test.each([
  { why: 'none were kept', gone: 'true', state: 'complete_since = $1, hours_complete_since = $1' },
  {
    why: 'a process of the version before has counted all that it knows',
    gone: NEW_HOURS,
    state: 'complete_since = NULL, hours_complete_since = $1',
  },
])(
  'rows from before the kept sums are read until they have been counted: $why',
  async ({ gone, state }) => {
    await forgetAll(database);
    const [sample = []] = fc.sample(someRows(60, 60), { numRuns: 1, seed: 11 });
    // The first day has failed requests and no others.
    const rows = sample.filter(
      ({ createdAt, repeats }) => repeats > 0 || createdAt.getTime() >= START_MS + DAY_MS,
    );
    const filters = fc.sample(filter, { numRuns: 6, seed: 11 });
    await insertRows(database, rows);
    // As an upgrade leaves it: later rows are counted, and one of a day that is not counted yet.
    const boundary = new Date(START_MS + 3 * DAY_MS);
    await database.raw.query(`
      SELECT set_config('usage_sums.counts_hours', 'on', true);
      DELETE FROM usage_sums WHERE since < '${boundary.toISOString()}' AND ${gone}`);
    await database.raw.query(`UPDATE usage_sums_state SET ${state}`, [boundary]);
    const late = rows.slice(0, 1).map((each) => ({
      ...each,
      id: newId(),
      createdAt: new Date(START_MS + DAY_MS),
    }));
    await insertRows(database, late);
    const all = [...rows, ...late];
    // One of its own: a process that has seen complete sums does not ask again.
    const upgraded = createDatabase({ databaseUrl: database.raw.url, log: silentLog });
    try {
      await expectSums(upgraded, all, filters);
      expect(await upgraded.spendSums.catchUp(new AbortController().signal)).toBe(3);
      expect(await wrongDays(database, false)).toEqual([]);
      await expectSums(upgraded, all, filters);
    } finally {
      await upgraded.close();
    }
  },
);

test('a process of the version before cannot delete the hours that it does not know', async () => {
  await forgetAll(database);
  const [rows = []] = fc.sample(someRows(60, 60), { numRuns: 1, seed: 17 });
  await insertRows(database, rows);
  await database.raw.query(`DELETE FROM usage_sums WHERE ${NEW_HOURS}`);
  expect(await wrongDays(database, false)).toEqual([]);
  // Those of this version can, where no row is counted in them.
  await database.raw.query(`
    INSERT INTO usage_sums SELECT cut, grain, since, user_id, key_id, group_id, project || '?', model, upstream, requests,
      errors, failed, prompt_tokens, completion_tokens, cached_tokens, total_tokens, cost, points
    FROM usage_sums WHERE ${NEW_HOURS}`);
  expect(await wrongDays(database, true)).not.toEqual([]);
  expect(await wrongDays(database, false)).toEqual([]);
});

test('sums keep the failed requests of days whose rows were deleted, and a check expects no others', async () => {
  await forgetAll(database);
  const [rows = []] = fc.sample(someRows(60, 60), { numRuns: 1, seed: 13 });
  await insertRows(database, rows);
  const before = new Date(START_MS + 2.5 * DAY_MS);
  let removed = 0;
  for (let count = -1; count !== 0; removed += count)
    count = await database.requestLogStore.removeRows(before, 2);
  const isOld = (each: Row): boolean => each.createdAt.getTime() < START_MS + 2 * DAY_MS;
  expect(removed).toBe(rows.filter((each) => each.repeats > 0 && isOld(each)).length);
  expect(await wrongDays(database, false)).toEqual([]);
  // That clients stopped those of the deleted rows is known no longer.
  const remembered = rows.map((each) =>
    each.status === 499 && each.repeats > 0 && isOld(each) ? { ...each, status: 400 } : each,
  );
  await expectSums(database, remembered, [
    { since: new Date(START_MS), until: new Date(START_MS + DAYS * DAY_MS) },
  ]);
  // Of a part of such a day only the rows are known, which the day without its other parts would not have.
  const part = {
    since: new Date(START_MS + 1.2 * DAY_MS),
    until: new Date(START_MS + 1.9 * DAY_MS),
  };
  const known = rows.filter((each) => each.repeats === 0 || !isOld(each));
  const users = new Set(rows.map(({ userId }) => userId));
  for (const userId of users) {
    const chosen = known.filter(isIn({ ...part, userId }));
    const answer = await database.spend.summary({ ...part, userId }, 'model');
    expect(answer).toEqual({ total: sumOf(chosen), groups: groupsOf(chosen, 'model') });
  }
  await database.raw.query('UPDATE usage_sums_state SET failures_since = NULL');
});

const requestFilter: fc.Arbitrary<RequestFilter> = fc
  .tuple(
    filter,
    sometimes<RequestFilter['status']>('ok', 'error', 'cancelled', 499, 200),
    fc.boolean(),
  )
  .map(([each, status, isOpen]) => ({
    ...each,
    status,
    ...(isOpen ? { since: undefined, until: undefined } : {}),
  }));

const isListed = ({ status, since, until, ...rest }: RequestFilter, each: Row): boolean => {
  const code = each.status ?? 200;
  const end = code === 499 ? 'cancelled' : code >= 400 ? 'error' : 'ok';
  const hasStatus =
    status === undefined || (typeof status === 'number' ? each.status === status : end === status);
  return (
    hasStatus && isIn({ ...rest, since: since ?? new Date(0), until: until ?? new Date() })(each)
  );
};

test('pages of requests have every row that matches, once and in order, whatever the filter', async () => {
  await fc.assert(
    fc.asyncProperty(
      someRows(0, 60),
      fc.array(requestFilter, { minLength: 1, maxLength: 6 }),
      fc.integer({ min: 1, max: 9 }),
      async (rows, filters, limit) => {
        await forgetAll(database);
        await insertRows(database, rows);
        for (const each of filters) {
          const listed: string[] = [];
          let after: RequestPosition | undefined;
          do {
            const page = await database.requestLog.list(each, { limit, after });
            expect(page.requests.length).toBeLessThanOrEqual(limit);
            listed.push(...page.requests.map(({ id }) => id));
            after = page.next;
          } while (after !== undefined);
          const expected = rows
            .filter((row_) => isListed(each, row_))
            .toSorted(
              (left, right) =>
                right.createdAt.getTime() - left.createdAt.getTime() ||
                (left.id < right.id ? -1 : 1),
            );
          expect(listed).toEqual(expected.map(({ id }) => id));
        }
      },
    ),
    { numRuns: fullSize(40, { small: 8 }) },
  );
});
