/** One thing that happened and must not be lost. Its id makes a second delivery recognisable. */
export interface JournalEntry {
  readonly id: string;
  readonly body: string;
}

/** A durable queue of entries: appended by whoever serves, drained by recorders, delivered at least once. */
export interface Journal {
  /** Resolves when the entry would survive the death of this process. */
  append(entry: JournalEntry): Promise<void>;
  /**
   * Hands entries to the recorder in batches until the signal aborts. A batch whose recorder rejects stays in the journal
   * and is handed over again after a pause; entries taken by a recorder that died are handed to another.
   */
  drain(
    record: (batch: readonly JournalEntry[]) => Promise<void>,
    options: { readonly batchSize: number; readonly signal: AbortSignal },
  ): Promise<void>;
  /** How many entries have not been recorded yet. */
  lag(): Promise<number>;
}
