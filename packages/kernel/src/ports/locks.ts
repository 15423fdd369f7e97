/** Locks with an expiry: one holder across all processes; the lock of a crashed holder expires. */
export interface Locks {
  /** The lock, or undefined while another process holds it. */
  acquire(name: string, expiresAfterMs: number): Promise<Lock | undefined>;
}

export interface Lock {
  /** Extends the expiry; false when the lock has been lost. */
  extend(expiresAfterMs: number): Promise<boolean>;
  /** False when the lock had already been lost. */
  release(): Promise<boolean>;
}
