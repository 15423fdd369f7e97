import { newId } from '@model-gateway/kernel';
import type { Queries } from './connection.ts';

interface ClosingGroup {
  readonly id: string;
  readonly ownerId: string;
  readonly name: string;
}

interface LedgerSide {
  readonly id: string;
  readonly balance: bigint;
}

/** Moves what is left in the pool of a group to the wallet of its owner, as one movement with two entries. */
export async function emptyGroupPool(queries: Queries, group: ClosingGroup): Promise<void> {
  const pool = await lockPool(queries, group.id);
  if (pool === undefined || pool.balance === 0n) return;
  const points = pool.balance;
  await queries.ledgerAccount.update({
    where: { id: pool.id },
    data: { balance: 0n },
    select: { id: true },
  });
  const wallet = await credit(queries, group.ownerId, points);
  const movement = {
    movementId: newId(),
    kind: 'refund',
    note: `the group ${group.name} was deleted`,
    ref: group.id,
  };
  await queries.ledgerEntry.createMany({
    data: [
      { ...movement, accountId: pool.id, delta: -points, balanceAfter: 0n },
      { ...movement, accountId: wallet.id, delta: points, balanceAfter: wallet.balance },
    ],
  });
}

async function lockPool(queries: Queries, groupId: string): Promise<LedgerSide | undefined> {
  const rows = await queries.$queryRaw<LedgerSide[]>`
    SELECT id, balance FROM ledger_accounts
    WHERE owner_type = 'group' AND owner_id = ${groupId}::uuid
    FOR UPDATE`;
  return rows[0];
}

/** A wallet is made when it is first needed; one that grows is no longer refused. */
async function credit(queries: Queries, userId: string, points: bigint): Promise<LedgerSide> {
  const rows = await queries.$queryRaw<LedgerSide[]>`
    INSERT INTO ledger_accounts AS wallet (owner_type, owner_id, balance)
    VALUES ('user', ${userId}::uuid, ${points})
    ON CONFLICT (owner_type, owner_id) DO UPDATE
    SET balance = wallet.balance + EXCLUDED.balance, refused_until = NULL, updated_at = now()
    RETURNING id, balance`;
  const wallet = rows[0];
  if (wallet === undefined) throw new Error('the wallet was not credited');
  return wallet;
}
