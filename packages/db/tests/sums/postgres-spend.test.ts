import type { RequestFilter, RequestPosition } from '@model-gateway/billing';
import * as fc from 'fast-check';
import { fullSize } from '../config.ts';
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
} from '../expected-spend.ts';
import { DAY_MS, START_MS, DAYS, sometimes, filter, type Row } from '../random-usage.ts';
import { openTestDatabase, type OpenedDatabase } from '../test-database.ts';

let database: OpenedDatabase;

beforeAll(async () => {
  database = await openTestDatabase();
  // Days are UTC days, whatever the clock of the database says.
  await database.raw.query(
    `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET timezone = %L', current_database(), 'America/New_York'); END $$`,
  );
  await database.raw.query(
    `SELECT usage_ensure_partitions('2025-02-01'), usage_ensure_partitions('2025-03-01')`,
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
    'UPDATE usage_by_all_day SET cost = cost + 0.01',
    'DELETE FROM usage_by_account_day',
    'UPDATE usage_by_model_hour SET failed = failed + 1',
    `INSERT INTO usage_by_model_day SELECT since, model || '?', upstream, surface, requests, errors, cancelled, failed,
       failed_cancelled, prompt_tokens, completion_tokens, cached_tokens, total_tokens, cost, points
     FROM usage_by_model_day`,
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
  await expectSums(database, rows, [
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
  await database.raw.query('UPDATE request_log_state SET kept_since = NULL');
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
