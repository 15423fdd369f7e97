import type { DrawingAccount } from './admission-store.ts';

/** One movement of points, as one of the accounts in it sees it. Entries are never changed or removed. */
export interface LedgerEntry {
  readonly id: string;
  /** Points; negative for what went out. */
  readonly delta: number;
  readonly balanceAfter: number;
  readonly kind: 'topup' | 'allocate' | 'usage' | 'refund';
  readonly note: string | null;
  /** What it was for: the other side of an allocation, the deleted group, the row of usage. */
  readonly ref: string | null;
  readonly createdAt: Date;
}

/** An account with its newest entries, newest first. */
export interface LedgerReading {
  readonly balance: number;
  readonly entries: readonly LedgerEntry[];
}

interface Movement {
  readonly groupId: string;
  /** A whole number above zero. */
  readonly points: number;
  readonly note?: string | undefined;
  /** Of calls with the same key, group and kind of movement one moves points, and all answer what it answered. */
  readonly idempotencyKey?: string | undefined;
}

export interface Allocation extends Movement {
  /** Of the member whose wallet is filled. */
  readonly email: string;
}

/** Where points are kept and moved. No account ever goes below zero. */
export interface LedgerStore {
  /** An account that nobody opened is empty. */
  read(account: DrawingAccount): Promise<LedgerReading>;
  /** Puts points into the pool of a group. Rejects with `not_found` once the group is gone. */
  topUp(topUp: Movement): Promise<{ readonly balance: number }>;
  /**
   * Moves points from the pool of a group to the wallet of an active member, all of them or none. Rejects with `not_found`
   * without such a group or member, with `movement_refused` when the pool is short or the member is deactivated.
   */
  allocate(allocation: Allocation): Promise<{
    readonly balance: number;
    readonly walletBalance: number;
    /** Whose wallet it is. */
    readonly userId: string;
  }>;
}
