import {
  monthOf,
  type AdmissionFacts,
  type DrawingAccount,
  type QuotaWindow,
} from '@model-gateway/billing';
import { readAccounts } from './account-states.ts';
import type { Connection } from '../connection/connection.ts';
import { NIL_UUID } from '../connection/nil-uuid.ts';
import { budgetWindowsOf, readBudgets } from '../usage/budget-usage.ts';
import { readWindows } from '../usage/window-usage.ts';

const PAGE_ROWS = 1000;

/** Everything that changed since then, a page at a time. What changes during the read may appear twice. */
export async function* readChangedFacts(
  connection: Connection,
  since: Date,
): AsyncGenerator<AdmissionFacts> {
  for await (const lines of pages<QuotaLine>((after) => changedQuotas(connection, since, after))) {
    const windows = await connection.run((queries) => readWindows(queries, lines.map(toWindow)));
    yield { windows, accounts: [] };
  }
  for await (const lines of pages<AccountLine>((after) =>
    changedAccounts(connection, since, after),
  )) {
    const accounts = await connection.run((queries) => readAccounts(queries, lines.map(toAccount)));
    yield { windows: [], accounts };
  }
  for await (const lines of pages<KeyLine>((after) => changedKeys(connection, since, after))) {
    const uses = lines.map(({ keyId }) => ({ keyId, at: new Date() }));
    const budgets = await connection.run(async (queries) =>
      readBudgets(queries, await budgetWindowsOf(queries, uses)),
    );
    if (budgets.length > 0) yield { windows: [], accounts: [], budgets };
  }
}

interface KeyLine {
  readonly keyId: string;
}

/** The keys with a budget that were used since then. */
function changedKeys(
  connection: Connection,
  since: Date,
  after: KeyLine | undefined,
): Promise<readonly KeyLine[]> {
  return connection.run(
    (queries) => queries.$queryRaw<KeyLine[]>`
      SELECT DISTINCT key_id::text AS "keyId"
      FROM budget_usage
      WHERE updated_at >= ${since.toISOString()}::timestamptz AND key_id > ${after?.keyId ?? NIL_UUID}::uuid
      ORDER BY 1
      LIMIT ${PAGE_ROWS}`,
  );
}

/** Reads pages until one is not full. */
async function* pages<Row>(
  read: (after: Row | undefined) => Promise<readonly Row[]>,
): AsyncGenerator<readonly Row[]> {
  for (let after: Row | undefined; ;) {
    const rows = await read(after);
    if (rows.length > 0) yield rows;
    if (rows.length < PAGE_ROWS) return;
    after = rows.at(-1);
  }
}

interface QuotaLine extends QuotaWindow {
  /** As text, which is more exact than a JavaScript date. */
  readonly updatedAt: string;
}

function changedQuotas(
  connection: Connection,
  since: Date,
  after: QuotaLine | undefined,
): Promise<readonly QuotaLine[]> {
  return connection.run(
    (queries) => queries.$queryRaw<QuotaLine[]>`
      SELECT
        user_id::text AS "userId", to_char(month, 'YYYY-MM') AS month, updated_at::text AS "updatedAt"
      FROM quota_usage
      WHERE updated_at >= ${since.toISOString()}::timestamptz AND (month, updated_at, user_id) > (
        ${`${after?.month ?? monthOf(since)}-01`}::date,
        ${after?.updatedAt ?? since.toISOString()}::timestamptz,
        ${after?.userId ?? NIL_UUID}::uuid
      )
      ORDER BY quota_usage.month, updated_at, user_id
      LIMIT ${PAGE_ROWS}`,
  );
}

const toWindow = ({ userId, month }: QuotaLine): QuotaWindow => ({ userId, month });

interface AccountLine {
  readonly id: string;
  readonly ownerType: string;
  readonly ownerId: string;
  readonly updatedAt: string;
}

function changedAccounts(
  connection: Connection,
  since: Date,
  after: AccountLine | undefined,
): Promise<readonly AccountLine[]> {
  return connection.run(
    (queries) => queries.$queryRaw<AccountLine[]>`
      SELECT
        id::text, owner_type AS "ownerType", owner_id::text AS "ownerId",
        updated_at::text AS "updatedAt"
      FROM ledger_accounts
      WHERE (updated_at, id) > (
        ${after?.updatedAt ?? since.toISOString()}::timestamptz,
        ${after?.id ?? NIL_UUID}::uuid
      )
      ORDER BY ledger_accounts.updated_at, ledger_accounts.id
      LIMIT ${PAGE_ROWS}`,
  );
}

const toAccount = ({ ownerType, ownerId }: AccountLine): DrawingAccount => ({
  type: ownerType === 'group' ? 'group' : 'user',
  id: ownerId,
});
