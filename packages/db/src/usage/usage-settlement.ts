import {
  accountOf,
  settle,
  windowName,
  windowOfEvent,
  type DrawingAccount,
  type PointsMovement,
  type QuotaWindow,
  type RecordedBatch,
  type RefusedMember,
  type SettledAccount,
} from '@model-gateway/billing';
import type { FailedRequest, UsageEvent } from '@model-gateway/contracts';
import { readAccounts } from '../billing/account-states.ts';
import { lockAccounts } from '../billing/ledger-accounts.ts';
import { arrayText } from '../connection/array-text.ts';
import type { RawQueries } from '../connection/connection.ts';
import { readTiers } from '../billing/tier-limits.ts';
import { insertRequestDetails } from '../request-log/request-details.ts';
import { insertFailures } from '../request-log/request-failures.ts';
import { countLines } from '../sums/add-to-sums.ts';
import { ensurePartitions } from './partitions.ts';
import { takeSettlementLock } from './settlement-lock.ts';
import { linesOfFailures } from '../sums/usage-lines.ts';
import { addUsageRows } from './usage-rows.ts';
import { storeThresholds } from './budget-thresholds.ts';
import { budgetWindowsOf, readBudgets } from './budget-usage.ts';
import { readWindows } from './window-usage.ts';

// If the machine of a recorder fails, the other recorders wait at most this long.
const IDLE_MS_MAX = 15_000;

export interface SettlementOptions {
  readonly pointsPerUsd: number;
  readonly failures: readonly FailedRequest[];
  /** Whether events of the batch may be stored already, or twice in the batch. If false, such a batch fails. */
  readonly mayBeKnown: boolean;
}

/** Settles the new events of a batch and stores them, and the failed requests. Call it inside a transaction. */
export async function settleBatch(
  queries: RawQueries,
  batch: readonly UsageEvent[],
  { pointsPerUsd, failures, mayBeKnown }: SettlementOptions,
): Promise<RecordedBatch> {
  await lockSettlement(queries);
  await ensurePartitions(queries, [
    ...batch.map((event) => event.created_at),
    ...failures.map(({ createdAt }) => createdAt.toISOString()),
  ]);
  const events = mayBeKnown
    ? await withoutKnown(
        queries,
        distinct(batch, ({ id }) => id),
      )
    : batch;
  const points = events.length > 0 ? await settleNew(queries, events, pointsPerUsd) : 0;
  if (failures.length > 0)
    await countLines(queries, linesOfFailures(await insertFailures(queries, failures)));
  const windows = await readWindows(queries, windowsOf(batch));
  const accounts = await readAccounts(queries, accountsOf(batch));
  const budgets = await readBudgets(queries, await budgetWindowsOf(queries, usesOfKeys(batch)));
  await storeThresholds(queries, budgets);
  return { added: events.length, points, facts: { windows, accounts, budgets } };
}

/** One use for each key and day, because no budget has a shorter period. */
const usesOfKeys = (batch: readonly UsageEvent[]) =>
  firstInPeriods(batch, ({ key_id }) => key_id, DATE_CHARS).flatMap(
    ({ key_id: keyId, created_at }) =>
      keyId === null ? [] : [{ keyId, at: new Date(created_at) }],
  );

/** Returns the number of points paid. */
async function settleNew(
  queries: RawQueries,
  events: readonly UsageEvent[],
  pointsPerUsd: number,
): Promise<number> {
  const settlement = settle({
    events,
    accounts: await lockAccounts(queries, accountsOf(events)),
    windows: await readWindows(queries, windowsOf(events)),
    tiers: await readTiers(queries, [...new Set(events.map((event) => event.user_id))]),
    pointsPerUsd,
  });
  await addUsageRows(queries, settlement.rows);
  await insertRequestDetails(queries, events);
  await insertEntries(queries, settlement.movements);
  await updateAccounts(queries, settlement.accounts);
  await insertRefusals(queries, settlement.refused);
  return settlement.movements.reduce((sum, { points }) => sum + points, 0);
}

/** Waits for other settlements, so that balances, tiers and sums change one batch at a time. */
async function lockSettlement(queries: RawQueries): Promise<void> {
  await queries.$executeRaw`
    SELECT set_config('idle_in_transaction_session_timeout', ${String(IDLE_MS_MAX)}, true)`;
  await takeSettlementLock(queries);
}

/** Events that were stored before have the same id and time. */
async function withoutKnown(
  queries: RawQueries,
  events: readonly UsageEvent[],
): Promise<readonly UsageEvent[]> {
  const known = await queries.$queryRaw<{ position: number }[]>`
    SELECT requested.position::integer AS position
    FROM unnest(
      ${arrayText(events.map((event) => event.id))}::uuid[],
      ${arrayText(events.map((event) => event.created_at))}::timestamptz[]
    ) WITH ORDINALITY AS requested (id, created_at, position)
    JOIN usage_records record ON record.id = requested.id AND record.created_at = requested.created_at`;
  const positions = new Set(known.map(({ position }) => position));
  return events.filter((_event, index) => !positions.has(index + 1));
}

async function insertEntries(
  queries: RawQueries,
  movements: readonly PointsMovement[],
): Promise<void> {
  if (movements.length === 0) return;
  await queries.$executeRaw`
    INSERT INTO ledger_entries (account_id, delta, balance_after, kind, ref)
    SELECT account.id, -moved.points, moved.balance_after, 'usage', moved.row_id
    FROM unnest(
      ${arrayText(movements.map(({ account }) => account.type))}::text[],
      ${arrayText(movements.map(({ account }) => account.id))}::uuid[],
      ${arrayText(movements.map(({ points }) => points))}::bigint[],
      ${arrayText(movements.map(({ balanceAfter }) => balanceAfter))}::bigint[],
      ${arrayText(movements.map(({ rowId }) => rowId))}::text[]
    ) WITH ORDINALITY AS moved (owner_type, owner_id, points, balance_after, row_id, position)
    JOIN ledger_accounts account
      ON account.owner_type = moved.owner_type AND account.owner_id = moved.owner_id
    ORDER BY moved.position`;
}

async function updateAccounts(
  queries: RawQueries,
  accounts: readonly SettledAccount[],
): Promise<void> {
  if (accounts.length === 0) return;
  await queries.$executeRaw`
    UPDATE ledger_accounts account
    SET balance = settled.balance
    FROM unnest(
      ${arrayText(accounts.map(({ type }) => type))}::text[],
      ${arrayText(accounts.map(({ id }) => id))}::uuid[],
      ${arrayText(accounts.map(({ balance }) => balance))}::bigint[]
    ) AS settled (owner_type, owner_id, balance)
    WHERE account.owner_type = settled.owner_type AND account.owner_id = settled.owner_id`;
}

/** Of the months of a batch the last one counts. The accounts are locked, so that none of them grows meanwhile. */
async function insertRefusals(
  queries: RawQueries,
  refused: readonly RefusedMember[],
): Promise<void> {
  if (refused.length === 0) return;
  await queries.$executeRaw`
    INSERT INTO account_refusals (user_id, account_id, month, increases)
    SELECT member.user_id, account.id, max(member.month), account.increases
    FROM unnest(
      ${arrayText(refused.map(({ userId }) => userId))}::uuid[],
      ${arrayText(refused.map(({ account }) => account.type))}::text[],
      ${arrayText(refused.map(({ account }) => account.id))}::uuid[],
      ${refused.map(({ month }) => `${month}-01`)}::date[]
    ) AS member (user_id, owner_type, owner_id, month)
    JOIN ledger_accounts account
      ON account.owner_type = member.owner_type AND account.owner_id = member.owner_id
    GROUP BY member.user_id, account.id
    ON CONFLICT (user_id, account_id) DO UPDATE
    SET month = greatest(account_refusals.month, EXCLUDED.month), increases = EXCLUDED.increases`;
}

/** Each window once. */
const windowsOf = (events: readonly UsageEvent[]): readonly QuotaWindow[] =>
  distinct(
    firstInPeriods(events, ({ user_id }) => user_id, MONTH_CHARS).map(windowOfEvent),
    windowName,
  );

const MONTH_CHARS = 'YYYY-MM'.length;
const DATE_CHARS = 'YYYY-MM-DD'.length;

/** Leaves out events of the same owner in the same period as the last one before, which almost all events of a batch are. */
function firstInPeriods(
  events: readonly UsageEvent[],
  ownerOf: (event: UsageEvent) => string | null,
  periodChars: number,
): readonly UsageEvent[] {
  const periods = new Map<string, string>();
  return events.filter((event) => {
    const owner = ownerOf(event);
    if (owner === null) return false;
    const period = periods.get(owner);
    if (period !== undefined && event.created_at.startsWith(period)) return false;
    periods.set(owner, event.created_at.slice(0, periodChars));
    return true;
  });
}

/** Each account once. */
function accountsOf(events: readonly UsageEvent[]): readonly DrawingAccount[] {
  const users = new Set<string>();
  const groups = new Set<string>();
  for (const event of events) {
    const { type, id } = accountOf(event);
    (type === 'user' ? users : groups).add(id);
  }
  return [
    ...[...users].map((id) => ({ type: 'user', id }) as const),
    ...[...groups].map((id) => ({ type: 'group', id }) as const),
  ];
}

const distinct = <Value>(
  values: readonly Value[],
  nameOf: (value: Value) => string,
): readonly Value[] => [...new Map(values.map((value) => [nameOf(value), value])).values()];
