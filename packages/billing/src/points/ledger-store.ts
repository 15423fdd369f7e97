import type { DrawingAccount } from '../admission/admission-store.ts';

/** One movement of points in one account. Entries are never changed or removed. */
export interface LedgerEntry {
  readonly id: string;
  /** Points; negative for what went out. */
  readonly delta: number;
  readonly balanceAfter: number;
  readonly kind: 'topup' | 'allocate' | 'usage' | 'refund';
  readonly note: string | null;
  /** The reason: the other side of an allocation, the deleted group, or the row of usage. */
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
  /** Of calls with the same key, group and kind of movement one moves points, and all return its result. */
  readonly idempotencyKey?: string | undefined;
}

export interface Allocation extends Movement {
  /** The email of the member who gets the points. */
  readonly email: string;
}

/** Stores and moves points. No balance is ever below zero. */
export interface LedgerStore {
  /** An account that does not exist is empty. */
  read(account: DrawingAccount): Promise<LedgerReading>;
  /** Adds points to the pool of a group. Rejects with `not_found` when the group was deleted. */
  topUp(topUp: Movement): Promise<{ readonly balance: number }>;
  /**
   * Moves points from the pool of a group to the wallet of an active member, all of them or none. Rejects with `not_found`
   * without such a group or member, with `movement_refused` when the pool is short or the member is deactivated.
   */
  allocate(allocation: Allocation): Promise<{
    readonly balance: number;
    readonly walletBalance: number;
    /** The owner of the wallet. */
    readonly userId: string;
  }>;
}
