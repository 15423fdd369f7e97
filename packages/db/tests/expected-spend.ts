import type { SpendFilter, SpendGrouping, SpendSums } from '@model-gateway/billing';
import type { FailedRequest } from '@model-gateway/contracts';
import * as fc from 'fast-check';
import type { Database } from '../src/database.ts';
import { SUM_TABLES } from '../src/sums/sum-tables.ts';
import { row, type Row } from './random-usage.ts';
import { addSettledRows, settledRow } from './settled-rows.ts';
import type { OpenedDatabase } from './test-database.ts';

export const KEY_OF: Record<SpendGrouping, (row: Row) => string | null> = {
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

export const isIn =
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
  cancelled: 0,
  promptTokens: 0,
  completionTokens: 0,
  cachedTokens: 0,
  totalTokens: 0,
  costUsd: 0,
  points: 0,
};

const errorsOf = ({ status, repeats }: Row): number => {
  if (status === null || status < 400 || status === 499) return 0;
  return repeats === 0 ? 1 : repeats;
};

export const sumOf = (rows: readonly Row[]): SpendSums =>
  rows.reduce(
    (sums, each) => ({
      requests: sums.requests + (each.repeats === 0 ? 1 : 0),
      errors: sums.errors + errorsOf(each),
      failed: sums.failed + each.repeats,
      cancelled: sums.cancelled + Number(each.status === 499 && each.repeats === 0),
      promptTokens: sums.promptTokens + each.promptTokens,
      completionTokens: sums.completionTokens + each.completionTokens,
      cachedTokens: sums.cachedTokens + (each.cachedTokens ?? 0),
      totalTokens: sums.totalTokens + each.promptTokens + each.completionTokens,
      costUsd: sums.costUsd + (each.cost ?? 0),
      points: sums.points + (each.points ?? 0),
    }),
    NOTHING,
  );

export function groupsOf(rows: readonly Row[], by: SpendGrouping) {
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
export function compareKeys(left: string | null, right: string | null): number {
  if (left === null || right === null) return left === null ? 1 : -1;
  return Buffer.compare(Buffer.from(left), Buffer.from(right));
}

/** Metered requests as rows of usage, failed ones in the log of requests. */
export async function insertRows(database: OpenedDatabase, all: readonly Row[]): Promise<void> {
  const rows = all.filter(({ repeats }) => repeats === 0);
  await database.usage.record([], {
    pointsPerUsd: 100,
    failures: all.filter(({ repeats }) => repeats > 0).map(failedRequest),
  });
  await addSettledRows(
    database.raw,
    rows.map((each) =>
      settledRow(
        {
          id: each.id,
          user_id: each.userId,
          key_id: each.keyId,
          group_id: each.groupId,
          project: each.project,
          model: each.model,
          upstream: each.upstream,
          status: each.status,
          prompt_tokens: each.promptTokens,
          completion_tokens: each.completionTokens,
          total_tokens: each.promptTokens + each.completionTokens,
          cached_tokens: each.cachedTokens,
          cost: each.cost,
          created_at: each.createdAt.toISOString(),
        },
        each.points,
      ),
    ),
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

export const forgetAll = (database: OpenedDatabase) =>
  database.raw.query(
    `TRUNCATE usage_records, quota_usage, budget_usage, request_failures, ${SUM_TABLES.map(({ name }) => name).join(', ')}`,
  );

export const someRows = (minLength: number, maxLength: number) =>
  fc.uniqueArray(row, { minLength, maxLength, selector: ({ id }) => id });

/** By every grouping, the answer has the sums of the rows. */
export async function expectSums(
  { spend }: Pick<Database, 'spend'>,
  rows: readonly Row[],
  filters: readonly SpendFilter[],
): Promise<void> {
  for (const each of filters) {
    const chosen = rows.filter(isIn(each));
    for (const by of GROUPINGS) {
      const answer = await spend.summary(each, by);
      expect({ by, ...answer }).toEqual({ by, total: sumOf(chosen), groups: groupsOf(chosen, by) });
    }
  }
}

/** The days that a check finds wrong, or a repair found. */
export async function wrongDays(
  { spendSums }: Pick<Database, 'spendSums'>,
  repairs: boolean,
): Promise<readonly string[]> {
  const wrong: string[] = [];
  for await (const { day, wrongLines } of spendSums.check({ repairs }))
    if (wrongLines > 0) wrong.push(day);
  return wrong;
}
