/** Whole-number counters that all processes share. */
export interface Counters {
  /** Adds to a counter, which starts at 0, and returns its new value. The expiry is set when the counter is created. */
  add(key: string, by: number, options?: { readonly expiresAfterMs?: number }): Promise<number>;
  /** The values in the order of the keys; a missing counter is 0. */
  read(keys: readonly string[]): Promise<readonly number[]>;
  remove(key: string): Promise<void>;
}
