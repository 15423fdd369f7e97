import type { Queries } from '../connection/connection.ts';

/** Identifies a repeated movement; both are null without an idempotency key. */
export interface Idempotency {
  readonly idempotencyScope: string | null;
  readonly idempotencyKey: string | null;
}

/** An earlier movement: the entry with the key, and the other side if there is one. */
export interface KnownMovement {
  readonly delta: bigint;
  readonly balanceAfter: bigint;
  readonly otherAccountId: string | null;
  readonly otherBalanceAfter: bigint | null;
}

/** A key counts within one method and one group. */
export function idempotencyOf(
  method: string,
  groupId: string,
  key: string | undefined,
): Idempotency {
  return key === undefined
    ? { idempotencyScope: null, idempotencyKey: null }
    : { idempotencyScope: `${method}:${groupId}`, idempotencyKey: key };
}

/** The earlier movement with this key. */
export async function findMovement(
  queries: Queries,
  { idempotencyScope, idempotencyKey }: Idempotency,
): Promise<KnownMovement | undefined> {
  if (idempotencyKey === null) return undefined;
  const rows = await queries.$queryRaw<KnownMovement[]>`
    SELECT
      e.delta, e.balance_after AS "balanceAfter",
      other.account_id AS "otherAccountId", other.balance_after AS "otherBalanceAfter"
    FROM ledger_entries e
    LEFT JOIN ledger_entries other ON other.movement_id = e.movement_id AND other.id <> e.id
    WHERE e.idempotency_scope = ${idempotencyScope} AND e.idempotency_key = ${idempotencyKey}`;
  return rows[0];
}
