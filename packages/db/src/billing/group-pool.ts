import { newId } from '@model-gateway/kernel';
import type { Queries } from '../connection/connection.ts';
import { addPoints, lockAccounts, openAccount } from './ledger-accounts.ts';

interface ClosingGroup {
  readonly id: string;
  readonly ownerId: string;
  readonly name: string;
}

/**
 * Moves what is left in the pool of a group to the wallet of its owner, as one movement with two entries. The caller
 * has locked the group, so that the pool can shrink but not grow meanwhile.
 */
export async function emptyGroupPool(queries: Queries, group: ClosingGroup): Promise<void> {
  const known = await queries.ledgerAccount.findUnique({
    where: { ownerType_ownerId: { ownerType: 'group', ownerId: group.id } },
    select: { balance: true },
  });
  if (known === null || known.balance === 0n) return;
  const owner = { type: 'user', id: group.ownerId } as const;
  await openAccount(queries, owner);
  const locked = await lockAccounts(queries, [{ type: 'group', id: group.id }, owner]);
  const pool = locked.find(({ type }) => type === 'group');
  const wallet = locked.find(({ type }) => type === 'user');
  if (pool === undefined || wallet === undefined)
    throw new Error('the account of the group or its owner does not exist');
  const points = BigInt(pool.balance);
  if (points === 0n) return;
  await addPoints(queries, pool.accountId, -points);
  const balanceAfter = await addPoints(queries, wallet.accountId, points);
  if (balanceAfter === undefined) throw new Error('the wallet cannot hold so many points');
  const movement = {
    movementId: newId(),
    kind: 'refund',
    note: `the group ${group.name} was deleted`,
    ref: group.id,
  };
  await queries.ledgerEntry.createMany({
    data: [
      { ...movement, accountId: pool.accountId, delta: -points, balanceAfter: 0n },
      { ...movement, accountId: wallet.accountId, delta: points, balanceAfter },
    ],
  });
}
