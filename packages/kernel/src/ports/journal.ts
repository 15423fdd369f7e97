/** An event that must not be lost. Its id identifies a repeated delivery. */
export interface JournalEntry {
  readonly id: string;
  readonly body: string;
}

/** A durable queue of entries: serving processes append, recorders drain, delivery is at least once. */
export interface Journal {
  /** Resolves when the entry would survive a crash of this process. */
  append(entry: JournalEntry): Promise<void>;
  /**
   * Passes entries to the recorder in batches until the signal aborts. A rejected batch stays in the journal and is
   * delivered again after a pause; entries of a recorder that crashed go to another one.
   */
  drain(
    record: (batch: readonly JournalEntry[]) => Promise<void>,
    options: { readonly batchSize: number; readonly signal: AbortSignal },
  ): Promise<void>;
  /** How many entries have not been recorded yet. */
  lag(): Promise<number>;
}
