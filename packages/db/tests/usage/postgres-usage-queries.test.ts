import type { UsageFilter, UsageGrouping, UsageSums, UsageWanted } from '@model-gateway/billing';
import { newId } from '@model-gateway/kernel';
import * as fc from 'fast-check';
import { fullSize } from '../config.ts';
import { addSettledRows, settledRow } from '../settled-rows.ts';
import { openTestDatabase, type OpenedDatabase } from '../test-database.ts';
import { SUM_TABLES } from '../../src/sums/sum-tables.ts';

/** What is counted of a row. */
interface Row {
  readonly id: string;
  readonly createdAt: Date;
  readonly model: string;
  readonly backend: string;
  readonly refId: string | null;
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** In steps that add up exactly; null without a price. */
  readonly cost: number | null;
}

const DAY_MS = 86_400_000;
// Across the end of a month, so that rows lie in more than one partition.
const START_MS = Date.UTC(2025, 1, 26);
const DAYS = 6;
const REFS = ['ticket-1', 'ticket-2', '50%', 'a_b', 'aXb', 'é', 'Z'];

const moment = fc
  .tuple(
    fc.integer({ min: 0, max: DAYS - 1 }),
    fc.constantFrom(0, 1, 3_600_000, 5_400_000, 43_200_000, DAY_MS - 1),
  )
  .map(([day, offset]) => new Date(START_MS + day * DAY_MS + offset));

const row: fc.Arbitrary<Row> = fc.record({
  id: fc.uuid(),
  createdAt: moment,
  model: fc.constantFrom('gpt-4o', 'demo-chat', 'Zeta', 'ärger'),
  backend: fc.constantFrom('gateway', 'rpc', 'realtime'),
  refId: fc.option(fc.constantFrom(...REFS)),
  promptTokens: fc.integer({ min: 0, max: 20 }),
  completionTokens: fc.integer({ min: 0, max: 3 }),
  cost: fc.option(fc.integer({ min: 0, max: 64 }).map((steps) => steps / 64)),
});

const filter: fc.Arbitrary<UsageFilter> = fc.record({
  refIds: fc.oneof(fc.constant([]), fc.subarray([...REFS, 'unknown'])),
  since: fc.option(moment, { nil: undefined }),
  until: fc.option(moment, { nil: undefined }),
});

const GROUPINGS = ['model', 'backend', 'ref', 'day'] as const satisfies readonly UsageGrouping[];

const NOTHING: UsageSums = {
  requests: 0,
  promptTokens: 0,
  completionTokens: 0,
  totalTokens: 0,
  costUsd: 0,
};

const KEY_OF: Record<UsageGrouping, (row: Row) => string | null> = {
  model: ({ model }) => model,
  backend: ({ backend }) => backend,
  ref: ({ refId }) => refId,
  day: ({ createdAt }) => createdAt.toISOString().slice(0, 10),
};

const isIn =
  ({ refIds, since, until }: UsageFilter) =>
  ({ refId, createdAt }: Row): boolean =>
    (refIds.length === 0 || (refId !== null && refIds.includes(refId))) &&
    (since === undefined || createdAt >= since) &&
    (until === undefined || createdAt < until);

const sumOf = (rows: readonly Row[]): UsageSums =>
  rows.reduce(
    (sums, { promptTokens, completionTokens, cost }) => ({
      requests: sums.requests + 1,
      promptTokens: sums.promptTokens + promptTokens,
      completionTokens: sums.completionTokens + completionTokens,
      totalTokens: sums.totalTokens + promptTokens + completionTokens,
      costUsd: sums.costUsd + (cost ?? 0),
    }),
    NOTHING,
  );

function groupsOf(rows: readonly Row[], by: UsageGrouping) {
  const keys = [...new Set(rows.map(KEY_OF[by]))];
  return keys
    .map((key) => ({ key, ...sumOf(rows.filter((each) => KEY_OF[by](each) === key)) }))
    .toSorted(
      (left, right) => right.totalTokens - left.totalTokens || compareKeys(left.key, right.key),
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
    `SELECT usage_ensure_partitions('2025-02-01'), usage_ensure_partitions('2025-03-01')`,
  );
});
afterAll(() => database.close());

async function insert(rows: readonly Row[]): Promise<void> {
  const user_id = newId();
  await addSettledRows(
    database.raw,
    rows.map((each) =>
      settledRow({
        id: each.id,
        user_id,
        key_id: null,
        project: null,
        model: each.model,
        backend: each.backend,
        prompt_tokens: each.promptTokens,
        completion_tokens: each.completionTokens,
        total_tokens: each.promptTokens + each.completionTokens,
        cost: each.cost,
        ref_id: each.refId,
        created_at: each.createdAt.toISOString(),
      }),
    ),
  );
}

async function forgetAll(): Promise<void> {
  await database.raw.query(
    `TRUNCATE usage_records, quota_usage, ${SUM_TABLES.map(({ name }) => name).join(', ')}`,
  );
}

const found = (each: UsageFilter, wanted: UsageWanted = {}) =>
  database.usageQueries.find(each, wanted);

test('there are as many rows as the totals say, also while rows are being written', async () => {
  await forgetAll();
  const page = { limit: 500, offset: 0 };
  let isWritten = false;
  async function writeAll(): Promise<void> {
    for (let count = 0; count < 60; count += 1) {
      await insert([{ ...ONE, id: newId(), createdAt: new Date(START_MS + count) }]);
    }
    isWritten = true;
  }
  const writing = writeAll();
  while (!isWritten) {
    for (const by of [undefined, 'model'] as const) {
      const { totals, records } = await found({ refIds: [] }, { by, page });
      expect(records?.length).toBe(totals.requests);
    }
  }
  await writing;
});

const ONE: Omit<Row, 'id' | 'createdAt'> = {
  model: 'm',
  backend: 'gateway',
  refId: null,
  promptTokens: 0,
  completionTokens: 0,
  cost: null,
};

test('the answers are those of adding up the rows one by one, also within days', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(row, { maxLength: 60, selector: ({ id }) => id }),
      fc.array(filter, { minLength: 1, maxLength: 6 }),
      async (rows, filters) => {
        await forgetAll();
        const half = Math.floor(rows.length / 2);
        await insert(rows.slice(0, half));
        await insert(rows.slice(half));
        for (const each of filters) {
          const chosen = rows.filter(isIn(each));
          const totals = sumOf(chosen);
          expect(await found(each, {})).toMatchObject({ totals });
          for (const by of GROUPINGS) {
            expect(await found(each, { by })).toMatchObject({
              totals,
              groups: groupsOf(chosen, by),
            });
          }
          await expectRecords(each, chosen);
        }
      },
    ),
    { numRuns: fullSize(40, { small: 12 }) },
  );
});

async function expectRecords(each: UsageFilter, chosen: readonly Row[]): Promise<void> {
  const ids = chosen
    .toSorted(
      (left, right) =>
        right.createdAt.getTime() - left.createdAt.getTime() || (left.id < right.id ? -1 : 1),
    )
    .map(({ id }) => id);
  const page = async (limit: number, offset: number) =>
    (await found(each, { page: { limit, offset } })).records?.map(({ id }) => id);
  expect(await page(500, 0)).toEqual(ids);
  expect(await page(3, 2)).toEqual(ids.slice(2, 5));
}

test('cents add up to dollars', async () => {
  await forgetAll();
  const cents = (cost: number, offset: number): Row => ({
    ...ONE,
    id: newId(),
    createdAt: new Date(START_MS + offset),
    cost,
  });
  await insert([cents(0.1, 0), cents(0.2, 1), cents(0.3, DAY_MS)]);
  const all = await found({ refIds: [] });
  expect(all.totals.costUsd).toBe(0.6);
  const within = await found({ refIds: [], since: new Date(START_MS + 1) });
  expect(within.totals.costUsd).toBe(0.5);
});

test('a record is shown whole', async () => {
  await forgetAll();
  const ids = { id: newId(), key: newId(), user: newId() };
  await database.raw.query(
    `INSERT INTO usage_records
       (id, user_id, key_id, api_key_id, project, model, backend, prompt_tokens, completion_tokens, total_tokens, cost, points,
        account_type, ref_id, created_at, upstream, cached_tokens, latency_ms, first_token_ms, status,
        cache_write_tokens, images, audio_seconds, price, cached, media_tokens)
     VALUES ($1, $2, $3, 'service-', 'web', 'm', 'gateway', 1, 2, 3, 0.5, 50, 'group', 'r', '2025-02-27T01:02:03.456Z', 'up', 4, 5, 6, 200,
        1, 2, 3.5, '{"source": "local"}', true,
        '{"audio_input": 1, "cached_audio_input": 0, "audio_output": 2, "image_output": 3}')`,
    [ids.id, ids.user, ids.key],
  );
  const { records } = await found({ refIds: [] }, { page: { limit: 1, offset: 0 } });
  expect(records).toEqual([
    {
      id: ids.id,
      apiKeyId: 'service-',
      keyId: ids.key,
      userId: ids.user,
      project: 'web',
      groupId: null,
      model: 'm',
      surface: 'gateway',
      promptTokens: 1,
      completionTokens: 2,
      totalTokens: 3,
      cost: 0.5,
      points: 50,
      accountType: 'group',
      refId: 'r',
      createdAt: new Date('2025-02-27T01:02:03.456Z'),
      upstream: 'up',
      cachedTokens: 4,
      latencyMs: 5,
      firstTokenMs: 6,
      status: 200,
      cacheWriteTokens: 1,
      images: 2,
      audioSeconds: 3.5,
      price: { source: 'local' },
      cached: true,
      mediaTokens: { audio_input: 1, cached_audio_input: 0, audio_output: 2, image_output: 3 },
    },
  ]);
});
