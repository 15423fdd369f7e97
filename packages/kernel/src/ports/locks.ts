/** Locks with an expiry: one holder across all processes, and nobody waits for a dead one longer than that. */
export interface Locks {
  /** The lock, or undefined while somebody else holds it. */
  acquire(name: string, expiresAfterMs: number): Promise<Lock | undefined>;
}

export interface Lock {
  /** Pushes the expiry on; false when the lock was lost in the meantime. */
  extend(expiresAfterMs: number): Promise<boolean>;
  /** False when the lock had been lost already. */
  release(): Promise<boolean>;
}
