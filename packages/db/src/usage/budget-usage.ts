import { budgetWindowOf, type BudgetUsage, type BudgetWindow } from '@model-gateway/billing';
import type { BudgetPeriod } from '@model-gateway/contracts';
import { arrayText } from '../connection/array-text.ts';
import type { RawQueries } from '../connection/connection.ts';
import { Prisma } from '../generated/client.ts';
import { usdText } from './exact-usd.ts';
import { takeSettlementLock } from './settlement-lock.ts';
import type { UsageLine } from '../sums/usage-lines.ts';

const NOTHING: BudgetUsage = { costUsd: 0, version: 0 };

/** What the days of `budget` add up to, of which a key, its user, a period and its start are known. */
const SUM_OF_DAYS = Prisma.sql`
  SELECT coalesce(sum(day.cost), 0) AS cost, coalesce(sum(day.requests), 0) AS requests
  FROM usage_by_account_day day
  WHERE day.user_id = budget.user_id AND day.key_id = budget.key_id
    AND day.since >= budget.start::timestamp AT TIME ZONE 'UTC'
    AND day.since < CASE budget.period
      WHEN 'day' THEN (budget.start + INTERVAL '1 day') AT TIME ZONE 'UTC'
      WHEN 'week' THEN (budget.start + INTERVAL '7 days') AT TIME ZONE 'UTC'
      WHEN 'month' THEN (budget.start + INTERVAL '1 month') AT TIME ZONE 'UTC'
      ELSE 'infinity'
    END`;

/** What counts against each budget, in their order: its line, or what the days add up to as long as it has none. */
export async function readBudgets(
  queries: RawQueries,
  windows: readonly BudgetWindow[],
): Promise<readonly (BudgetWindow & BudgetUsage)[]> {
  if (windows.length === 0) return [];
  const rows = await queries.$queryRaw<BudgetUsage[]>`
    SELECT
      coalesce(line.cost, days.cost)::double precision AS "costUsd",
      coalesce(line.version, days.requests)::double precision AS version
    FROM (
      SELECT requested.*, key.user_id
      FROM unnest(
        ${arrayText(windows.map(({ keyId }) => keyId))}::uuid[],
        ${arrayText(windows.map(({ period }) => period))}::text[],
        ${arrayText(windows.map(({ start }) => start))}::date[]
      ) WITH ORDINALITY AS requested (key_id, period, start, position)
      LEFT JOIN api_keys key ON key.id = requested.key_id
    ) AS budget
    LEFT JOIN budget_usage line
      ON line.key_id = budget.key_id AND line.period = budget.period AND line.start = budget.start
    CROSS JOIN LATERAL (${SUM_OF_DAYS} AND line.key_id IS NULL) AS days
    ORDER BY budget.position`;
  return windows.map((window, index) => ({ ...window, ...(rows[index] ?? NOTHING) }));
}

/**
 * Adds served requests to the lines of the budgets of their keys: 1. one sum for each budget, 2. added to the lines that are there,
 * 3. missing lines made from the sums of the days, which must have the requests already. Call it under the settlement lock.
 */
export async function countBudgets(
  queries: RawQueries,
  lines: readonly UsageLine[],
): Promise<void> {
  const ofKeys = lines.filter(({ keyId }) => keyId !== null);
  if (ofKeys.length === 0) return;
  await queries.$executeRaw`
    WITH budget AS MATERIALIZED (
      SELECT
        used.key_id, key.user_id, key.budget_period AS period,
        CASE key.budget_period
          WHEN 'total' THEN '1970-01-01'
          ELSE date_trunc(key.budget_period, used.hour AT TIME ZONE 'UTC')::date
        END AS start,
        sum(used.requests) AS requests, sum(used.cost) AS cost
      FROM unnest(
        ${arrayText(ofKeys.map(({ keyId }) => keyId))}::uuid[],
        ${arrayText(ofKeys.map(({ hour }) => hour))}::timestamptz[],
        ${arrayText(ofKeys.map(({ requests }) => requests))}::bigint[],
        ${arrayText(ofKeys.map(({ cost }) => usdText(cost)))}::numeric[]
      ) AS used (key_id, hour, requests, cost)
      JOIN api_keys key ON key.id = used.key_id AND key.budget_period IS NOT NULL
      GROUP BY 1, 2, 3, 4
    ), added AS (
      UPDATE budget_usage line SET
        cost = line.cost + budget.cost,
        version = line.version + budget.requests,
        updated_at = CASE WHEN line.updated_at < clock_timestamp() - INTERVAL '20 seconds'
          THEN clock_timestamp() ELSE line.updated_at END
      FROM budget
      WHERE line.key_id = budget.key_id AND line.period = budget.period AND line.start = budget.start
      RETURNING line.key_id, line.period, line.start
    )
    INSERT INTO budget_usage (key_id, period, start, cost, version, updated_at)
    SELECT budget.key_id, budget.period, budget.start, days.cost, days.requests, clock_timestamp()
    FROM budget LEFT JOIN added USING (key_id, period, start)
    CROSS JOIN LATERAL (${SUM_OF_DAYS} AND added.key_id IS NULL) AS days
    WHERE added.key_id IS NULL`;
}

/**
 * Removes the lines of a key whose budget gets another period or ends, because settlements no longer add to them. A settlement that
 * has begun adds first, later ones see the new period.
 */
export async function forgetBudgetLines(queries: RawQueries, keyId: string): Promise<void> {
  await takeSettlementLock(queries);
  await queries.$executeRaw`DELETE FROM budget_usage WHERE key_id = ${keyId}::uuid`;
}

/** The use of a key at a time. */
interface KeyUse {
  readonly keyId: string;
  readonly at: Date;
}

/** The windows that the uses of keys count in, each once; keys without a budget have none. */
export async function budgetWindowsOf(
  queries: RawQueries,
  uses: readonly KeyUse[],
): Promise<readonly BudgetWindow[]> {
  if (uses.length === 0) return [];
  const rows = await queries.$queryRaw<{ id: string; period: BudgetPeriod }[]>`
    SELECT id::text AS id, budget_period AS period
    FROM api_keys
    WHERE id = ANY(${[...new Set(uses.map(({ keyId }) => keyId))]}::uuid[])
      AND budget_period IS NOT NULL`;
  const periods = new Map(rows.map(({ id, period }) => [id, period]));
  const windows = new Map<string, BudgetWindow>();
  for (const { keyId, at } of uses) {
    const period = periods.get(keyId);
    if (period === undefined) continue;
    const window = budgetWindowOf(keyId, period, at);
    windows.set(`${window.start} ${keyId}`, window);
  }
  return [...windows.values()];
}
