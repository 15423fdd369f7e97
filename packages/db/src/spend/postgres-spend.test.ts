import type {
  FailedRequest,
  RequestFilter,
  RequestPosition,
  SpendFilter,
  SpendGrouping,
  SpendSums,
} from '@model-gateway/billing';
import { newId, silentLog } from '@model-gateway/kernel';
import * as fc from 'fast-check';
import { fullSize } from '../../tests/config.ts';
import { createDatabase, type Database } from '../database.ts';
import {
  DAY_MS,
  START_MS,
  DAYS,
  row,
  sometimes,
  filter,
  type Row,
} from '../../tests/random-usage.ts';
import { openTestDatabase, type OpenedDatabase } from '../../tests/test-database.ts';

const KEY_OF: Record<SpendGrouping, (row: Row) => string | null> = {
  day: ({ createdAt }) => createdAt.toISOString().slice(0, 10),
  hour: ({ createdAt }) => `${createdAt.toISOString().slice(0, 13)}:00:00Z`,
  model: ({ model }) => model,
  upstream: ({ upstream }) => upstream,
  key: ({ keyId }) => keyId,
  project: ({ project }) => project,
  group: ({ groupId }) => groupId,
  user: ({ userId }) => userId,
};
const GROUPINGS = Object.keys(KEY_OF) as readonly SpendGrouping[];

const isIn =
  ({ since, until, ...dimensions }: SpendFilter) =>
  (each: Row): boolean =>
    each.createdAt >= since &&
    each.createdAt < until &&
    Object.entries(dimensions).every(
      ([name, value]) => value === undefined || each[name as keyof Row] === value,
    );

const NOTHING: SpendSums = {
  requests: 0,
  errors: 0,
  failed: 0,
  promptTokens: 0,
  completionTokens: 0,
  cachedTokens: 0,
  totalTokens: 0,
  costUsd: 0,
  points: 0,
};

const errorsOf = ({ status, repeats }: Row): number =>
  repeats === 0 ? Number(status !== null && status >= 400) : repeats;

const sumOf = (rows: readonly Row[]): SpendSums =>
  rows.reduce(
    (sums, each) => ({
      requests: sums.requests + (each.repeats === 0 ? 1 : 0),
      errors: sums.errors + errorsOf(each),
      failed: sums.failed + each.repeats,
      promptTokens: sums.promptTokens + each.promptTokens,
      completionTokens: sums.completionTokens + each.completionTokens,
      cachedTokens: sums.cachedTokens + (each.cachedTokens ?? 0),
      totalTokens: sums.totalTokens + each.promptTokens + each.completionTokens,
      costUsd: sums.costUsd + (each.cost ?? 0),
      points: sums.points + (each.points ?? 0),
    }),
    NOTHING,
  );

function groupsOf(rows: readonly Row[], by: SpendGrouping) {
  const isTime = by === 'day' || by === 'hour';
  return [...new Set(rows.map(KEY_OF[by]))]
    .map((key) => ({ key, ...sumOf(rows.filter((each) => KEY_OF[by](each) === key)) }))
    .toSorted(
      (left, right) =>
        (isTime ? 0 : right.costUsd - left.costUsd || right.requests - left.requests) ||
        compareKeys(left.key, right.key),
    );
}

/** By code point, null last. */
function compareKeys(left: string | null, right: string | null): number {
  if (left === null || right === null) return left === null ? 1 : -1;
  return Buffer.compare(Buffer.from(left), Buffer.from(right));
}

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

async function insert(all: readonly Row[]): Promise<void> {
  const rows = all.filter(({ repeats }) => repeats === 0);
  await database.requestLogStore.addFailures(
    all.filter(({ repeats }) => repeats > 0).map(failedRequest),
  );
  await database.raw.query(
    `INSERT INTO usage_records
       (id, user_id, key_id, group_id, project, api_key_id, model, backend, upstream, status, prompt_tokens,
        completion_tokens, total_tokens, cached_tokens, cost, points, created_at)
     SELECT id, user_id, key_id, group_id, project, 'x', model, 'gateway', upstream, status, prompt, completion,
       prompt + completion, cached, cost, points, at
     FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::text[], $6::text[], $7::text[], $8::int[],
         $9::int[], $10::int[], $11::int[], $12::float8[], $13::int[], $14::timestamptz[])
       AS row (id, user_id, key_id, group_id, project, model, upstream, status, prompt, completion, cached, cost, points, at)`,
    [
      rows.map(({ id }) => id),
      rows.map(({ userId }) => userId),
      rows.map(({ keyId }) => keyId),
      rows.map(({ groupId }) => groupId),
      rows.map(({ project }) => project),
      rows.map(({ model }) => model),
      rows.map(({ upstream }) => upstream),
      rows.map(({ status }) => status),
      rows.map(({ promptTokens }) => promptTokens),
      rows.map(({ completionTokens }) => completionTokens),
      rows.map(({ cachedTokens }) => cachedTokens),
      rows.map(({ cost }) => cost),
      rows.map(({ points }) => points),
      rows.map(({ createdAt }) => createdAt.toISOString()),
    ],
  );
}

const failedRequest = (each: Row): FailedRequest => ({
  ...each,
  apiKeyId: 'x',
  backend: 'gateway',
  countedModel: each.model,
  refId: null,
  latencyMs: 1,
  status: each.status ?? 0,
  errorCode: 'rate_limit_exceeded',
  error: 'too many\u0000',
  requestId: null,
  attempts: null,
});

const forgetAll = () =>
  database.raw.query(
    'TRUNCATE usage_records, usage_totals, usage_daily, usage_daily_refs, usage_ref_days, usage_hourly, usage_sums, request_failures',
  );

const someRows = (minLength: number, maxLength: number) =>
  fc.uniqueArray(row, { minLength, maxLength, selector: ({ id }) => id });

async function expectSums(
  rows: readonly Row[],
  filters: readonly SpendFilter[],
  { spend }: Pick<Database, 'spend'> = database,
): Promise<void> {
  for (const each of filters) {
    const chosen = rows.filter(isIn(each));
    for (const by of GROUPINGS) {
      const answer = await spend.summary(each, by);
      expect({ by, ...answer }).toEqual({ by, total: sumOf(chosen), groups: groupsOf(chosen, by) });
    }
  }
}

test('the sums of every grouping are those of the rows, for any period and filter', async () => {
  await fc.assert(
    fc.asyncProperty(
      someRows(0, 60),
      fc.array(filter, { minLength: 1, maxLength: 4 }),
      async (rows, filters) => {
        await forgetAll();
        const half = Math.floor(rows.length / 2);
        await insert(rows.slice(0, half));
        await insert(rows.slice(half));
        const all = { since: new Date(START_MS), until: new Date(START_MS + DAYS * DAY_MS) };
        await expectSums(rows, [...filters, all]);
      },
    ),
    { numRuns: fullSize(40, { small: 8 }) },
  );
});

const wrongDays = async (repairs: boolean): Promise<readonly string[]> => {
  const wrong: string[] = [];
  for await (const { day, wrongLines } of database.spendSums.check({ repairs }))
    if (wrongLines > 0) wrong.push(day);
  return wrong;
};

test('a check finds every line that is wrong, missing or too much, and a repair makes all equal the rows', async () => {
  await forgetAll();
  const [rows = []] = fc.sample(someRows(60, 60), { numRuns: 1, seed: 7 });
  await insert(rows);
  expect(await wrongDays(false)).toEqual([]);
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
    expect(await wrongDays(false)).toEqual(days);
    expect(await wrongDays(true)).toEqual(days);
    expect(await wrongDays(false)).toEqual([]);
  }
  await expectSums(rows, [
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
    await forgetAll();
    const [sample = []] = fc.sample(someRows(60, 60), { numRuns: 1, seed: 11 });
    // The first day has failed requests and no others.
    const rows = sample.filter(
      ({ createdAt, repeats }) => repeats > 0 || createdAt.getTime() >= START_MS + DAY_MS,
    );
    const filters = fc.sample(filter, { numRuns: 6, seed: 11 });
    await insert(rows);
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
    await insert(late);
    const all = [...rows, ...late];
    // One of its own: a process that has seen complete sums does not ask again.
    const upgraded = createDatabase({ databaseUrl: database.raw.url, log: silentLog });
    try {
      await expectSums(all, filters, upgraded);
      expect(await upgraded.spendSums.catchUp(new AbortController().signal)).toBe(3);
      expect(await wrongDays(false)).toEqual([]);
      await expectSums(all, filters, upgraded);
    } finally {
      await upgraded.close();
    }
  },
);

test('a process of the version before cannot delete the hours that it does not know', async () => {
  await forgetAll();
  const [rows = []] = fc.sample(someRows(60, 60), { numRuns: 1, seed: 17 });
  await insert(rows);
  await database.raw.query(`DELETE FROM usage_sums WHERE ${NEW_HOURS}`);
  expect(await wrongDays(false)).toEqual([]);
  // Those of this version can, where no row is counted in them.
  await database.raw.query(`
    INSERT INTO usage_sums SELECT cut, grain, since, user_id, key_id, group_id, project || '?', model, upstream, requests,
      errors, failed, prompt_tokens, completion_tokens, cached_tokens, total_tokens, cost, points
    FROM usage_sums WHERE ${NEW_HOURS}`);
  expect(await wrongDays(true)).not.toEqual([]);
  expect(await wrongDays(false)).toEqual([]);
});

test('sums keep the failed requests of days whose rows were deleted, and a check expects no others', async () => {
  await forgetAll();
  const [rows = []] = fc.sample(someRows(60, 60), { numRuns: 1, seed: 13 });
  await insert(rows);
  const before = new Date(START_MS + 2.5 * DAY_MS);
  let removed = 0;
  for (let count = -1; count !== 0; removed += count)
    count = await database.requestLogStore.removeRows(before, 2);
  const isOld = (each: Row): boolean => each.createdAt.getTime() < START_MS + 2 * DAY_MS;
  expect(removed).toBe(rows.filter((each) => each.repeats > 0 && isOld(each)).length);
  expect(await wrongDays(false)).toEqual([]);
  await expectSums(rows, [
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
  .tuple(filter, sometimes<'ok' | 'error' | number>('ok', 'error', 499, 200), fc.boolean())
  .map(([each, status, isOpen]) => ({
    ...each,
    status,
    ...(isOpen ? { since: undefined, until: undefined } : {}),
  }));

const isListed = ({ status, since, until, ...rest }: RequestFilter, each: Row): boolean => {
  const code = each.status ?? 200;
  const isError = code >= 400;
  const hasStatus =
    status === undefined ||
    (typeof status === 'number' ? each.status === status : isError === (status === 'error'));
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
        await forgetAll();
        await insert(rows);
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
