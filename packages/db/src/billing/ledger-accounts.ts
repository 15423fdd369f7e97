import type { DrawingAccount } from '@model-gateway/billing';
import { arrayText } from '../connection/array-text.ts';
import type { Queries, RawQueries } from '../connection/connection.ts';

/** An account whose row is locked until the transaction ends. */
interface LockedAccount extends DrawingAccount {
  readonly accountId: string;
  readonly balance: number;
}

/** Above this a balance is not exact in a JavaScript number. */
const BALANCE_MAX = BigInt(Number.MAX_SAFE_INTEGER);

/** Creates an empty account if there is none. */
export async function openAccount(queries: Queries, { type, id }: DrawingAccount): Promise<void> {
  await queries.$executeRaw`
    INSERT INTO ledger_accounts (owner_type, owner_id) VALUES (${type}, ${id}::uuid)
    ON CONFLICT (owner_type, owner_id) DO NOTHING`;
}

/** Locks the existing accounts. All callers lock in the order of ids, which prevents deadlocks. */
export async function lockAccounts(
  queries: RawQueries,
  accounts: readonly DrawingAccount[],
): Promise<readonly LockedAccount[]> {
  const rows = await queries.$queryRaw<LockedRow[]>`
    SELECT
      account.id AS "accountId", requested.position::integer AS position,
      account.balance::double precision AS balance
    FROM unnest(
      ${arrayText(accounts.map(({ type }) => type))}::text[],
      ${arrayText(accounts.map(({ id }) => id))}::uuid[]
    ) WITH ORDINALITY AS requested (owner_type, owner_id, position)
    JOIN ledger_accounts account
      ON account.owner_type = requested.owner_type AND account.owner_id = requested.owner_id
    ORDER BY account.id
    FOR UPDATE OF account`;
  return rows.flatMap(({ accountId, position, balance }) => {
    const account = accounts[position - 1];
    return account === undefined ? [] : [{ ...account, accountId, balance }];
  });
}

interface LockedRow extends Pick<LockedAccount, 'accountId' | 'balance'> {
  readonly position: number;
}

/** Adds or subtracts points. Returns the new balance, or undefined without a change if it would be out of bounds. */
export async function addPoints(
  queries: Queries,
  accountId: string,
  delta: bigint,
): Promise<bigint | undefined> {
  const rows = await queries.$queryRaw<{ balance: bigint }[]>`
    UPDATE ledger_accounts SET balance = balance + ${delta}::bigint
    WHERE id = ${accountId}::uuid AND balance + ${delta}::bigint BETWEEN 0 AND ${BALANCE_MAX}::bigint
    RETURNING balance`;
  return rows[0]?.balance;
}
