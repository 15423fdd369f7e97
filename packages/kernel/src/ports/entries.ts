/** Small values by key, each with an expiry, that all processes share, for example the owner of a session. */
export interface Entries {
  /** The value, or undefined when there is none or it has expired. */
  get(key: string): Promise<string | undefined>;
  /** Replaces the value and restarts the expiry. */
  put(key: string, value: string, options: EntryOptions): Promise<void>;
  /** Atomically sets the value when there is none; returns the current value. */
  putIfAbsent(key: string, value: string, options: EntryOptions): Promise<string>;
  remove(key: string): Promise<void>;
  /** Removes the entry only while it still has this value; true when it did. */
  removeIf(key: string, value: string): Promise<boolean>;
}

export interface EntryOptions {
  /** Whole milliseconds, at least 1. */
  readonly expiresAfterMs: number;
}
