import type { DrawingAccount } from '@model-gateway/billing';
import type { Queries } from '../connection/connection.ts';

/** An account whose row is locked until the transaction ends. */
export interface LockedAccount {
  readonly id: string;
  readonly ownerType: string;
  readonly balance: bigint;
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
export function lockAccounts(
  queries: Queries,
  accounts: readonly DrawingAccount[],
): Promise<readonly LockedAccount[]> {
  return queries.$queryRaw<LockedAccount[]>`
    SELECT id, owner_type AS "ownerType", balance FROM ledger_accounts
    WHERE (owner_type, owner_id) IN (
      SELECT * FROM unnest(
        ${accounts.map(({ type }) => type)}::text[],
        ${accounts.map(({ id }) => id)}::uuid[]
      )
    )
    ORDER BY id
    FOR UPDATE`;
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
