/** Small values under a key, each with an expiry, that all processes share: who owns a session, where a socket is held. */
export interface Entries {
  /** The value, or undefined when there is none or it has expired. */
  get(key: string): Promise<string | undefined>;
  /** Replaces the value and sets the expiry anew. */
  put(key: string, value: string, options: EntryOptions): Promise<void>;
  /** In one step: sets the value only when there is none, and answers the one that holds now. */
  putIfAbsent(key: string, value: string, options: EntryOptions): Promise<string>;
  remove(key: string): Promise<void>;
  /** Removes the entry only while it still has this value; true when it did. */
  removeIf(key: string, value: string): Promise<boolean>;
}

export interface EntryOptions {
  /** Whole milliseconds, at least 1. */
  readonly expiresAfterMs: number;
}
