import type { Allocation, LedgerEntry, LedgerReading, LedgerStore } from '@model-gateway/billing';
import { ServiceError } from '@model-gateway/contracts';
import { newId } from '@model-gateway/kernel';
import type { Connection, Queries } from '../connection/connection.ts';
import { addPoints, lockAccounts, openAccount } from './ledger-accounts.ts';
import { findMovement, idempotencyOf } from './ledger-repeats.ts';
import { holdGroup } from '../accounts/postgres-groups.ts';

const ENTRIES_SHOWN_MAX = 50;

/** Wallets and pools in Postgres. */
export function createPostgresLedger(connection: Connection): LedgerStore {
  return {
    read: ({ type, id }) =>
      connection.run(async (queries) => {
        // One statement, so that the balance matches the newest entry. Only the index of the account has the order by account and
        // id: by id alone Postgres may search the newest entries of all accounts for those of this one.
        const rows = await queries.$queryRaw<LedgerRow[]>`
          SELECT a.balance, e.*
          FROM ledger_accounts a
          LEFT JOIN LATERAL (
            SELECT id, delta, balance_after AS "balanceAfter", kind, note, ref, created_at AS "createdAt"
            FROM ledger_entries WHERE account_id = ANY (ARRAY[a.id])
            ORDER BY account_id, id DESC LIMIT ${ENTRIES_SHOWN_MAX}
          ) e ON true
          WHERE a.owner_type = ${type} AND a.owner_id = ${id}::uuid
          ORDER BY e.id DESC`;
        return readingOf(rows);
      }),

    topUp: ({ groupId, points, note, idempotencyKey }) =>
      connection.transaction(async (queries) => {
        await enterGroup(queries, groupId);
        const owner = { type: 'group', id: groupId } as const;
        await openAccount(queries, owner);
        const [pool] = await lockAccounts(queries, [owner]);
        if (pool === undefined) throw new Error('the account of the group does not exist');
        const idempotency = idempotencyOf('group.credits.topup', groupId, idempotencyKey);
        const before = await findMovement(queries, idempotency);
        if (before !== undefined) {
          if (before.delta !== BigInt(points)) throw usedBefore();
          return { balance: Number(before.balanceAfter) };
        }
        const balanceAfter = await addPoints(queries, pool.accountId, BigInt(points));
        if (balanceAfter === undefined) throw refused('the pool cannot hold so many points');
        await queries.ledgerEntry.create({
          data: {
            accountId: pool.accountId,
            delta: BigInt(points),
            balanceAfter,
            kind: 'topup',
            note: note ?? null,
            ...idempotency,
          },
          select: { id: true },
        });
        return { balance: Number(balanceAfter) };
      }),

    allocate: (allocation) => connection.transaction((queries) => allocate(queries, allocation)),
  };
}

async function allocate(
  queries: Queries,
  { groupId, email, points, note, idempotencyKey }: Allocation,
): ReturnType<LedgerStore['allocate']> {
  await enterGroup(queries, groupId);
  const user = await queries.user.findUnique({ where: { email }, select: { id: true } });
  if (user === null) throw memberNotFound();
  const userId = user.id;
  // A refused allocation rolls the new wallet back.
  await openAccount(queries, { type: 'user', id: userId });
  const locked = await lockAccounts(queries, [
    { type: 'group', id: groupId },
    { type: 'user', id: userId },
  ]);
  const pool = locked.find(({ type }) => type === 'group');
  const wallet = locked.find(({ type }) => type === 'user');
  const idempotency = idempotencyOf('group.credits.allocate', groupId, idempotencyKey);
  // Read under the lock of the pool, so that the second of two concurrent calls finds the movement of the first.
  const before = await findMovement(queries, idempotency);
  if (before !== undefined) {
    const isSame = before.delta === -BigInt(points) && before.otherAccountId === wallet?.accountId;
    if (!isSame) throw usedBefore();
    return {
      balance: Number(before.balanceAfter),
      walletBalance: Number(before.otherBalanceAfter),
      userId,
    };
  }
  await assertActiveMember(queries, groupId, userId);
  if (pool === undefined || wallet === undefined) throw poolShort();
  const balanceAfter = await addPoints(queries, pool.accountId, -BigInt(points));
  if (balanceAfter === undefined) throw poolShort();
  const walletAfter = await addPoints(queries, wallet.accountId, BigInt(points));
  if (walletAfter === undefined) throw refused('the wallet cannot hold so many points');
  const movement = { movementId: newId(), kind: 'allocate', note: note ?? null };
  const taken = { accountId: pool.accountId, delta: -BigInt(points), balanceAfter, ref: userId };
  const given = { accountId: wallet.accountId, delta: BigInt(points), ref: groupId };
  await queries.ledgerEntry.createMany({
    data: [
      { ...movement, ...taken, ...idempotency },
      { ...movement, ...given, balanceAfter: walletAfter },
    ],
  });
  return { balance: Number(balanceAfter), walletBalance: Number(walletAfter), userId };
}

/** Prevents that the group is deleted meanwhile, which would lose the points in its pool. */
async function enterGroup(queries: Queries, groupId: string): Promise<void> {
  if (!(await holdGroup(queries, groupId))) throw new ServiceError('not_found', 'group not found');
}

async function assertActiveMember(
  queries: Queries,
  groupId: string,
  userId: string,
): Promise<void> {
  const [member] = await queries.$queryRaw<{ isActive: boolean }[]>`
    SELECT is_active AS "isActive" FROM group_members
    WHERE group_id = ${groupId}::uuid AND user_id = ${userId}::uuid
    FOR SHARE`;
  if (member === undefined) throw memberNotFound();
  if (!member.isActive) throw refused('the member is deactivated');
}

interface LedgerRow {
  readonly balance: bigint;
  /** Null, like the fields below, if the account has no entries. */
  readonly id: bigint | null;
  readonly delta: bigint;
  readonly balanceAfter: bigint;
  readonly kind: LedgerEntry['kind'];
  readonly note: string | null;
  readonly ref: string | null;
  readonly createdAt: Date;
}

function readingOf(rows: readonly LedgerRow[]): LedgerReading {
  return {
    balance: Number(rows[0]?.balance ?? 0n),
    entries: rows.flatMap(({ id, delta, balanceAfter, kind, note, ref, createdAt }) =>
      id === null
        ? []
        : {
            id: String(id),
            delta: Number(delta),
            balanceAfter: Number(balanceAfter),
            kind,
            note,
            ref,
            createdAt,
          },
    ),
  };
}

const refused = (why: string): ServiceError => new ServiceError('movement_refused', why);

const poolShort = (): ServiceError => refused('the pool does not hold so many points');

const usedBefore = (): ServiceError => refused('the idempotency_key was used for another movement');

const memberNotFound = (): ServiceError => new ServiceError('not_found', 'member not found');
