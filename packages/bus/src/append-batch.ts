import type { JournalEntry } from '@model-gateway/kernel';

/** Appends entries together that come together: all that finish in one turn of the event loop share one call. */
export type AppendBatch = (entry: JournalEntry) => Promise<void>;

interface Batch {
  readonly entries: JournalEntry[];
  readonly appended: Promise<void>;
}

/** The answer is shared by the batch: it rejects for all when one of them may be missing. */
export function createAppendBatch(
  appendAll: (entries: readonly JournalEntry[]) => Promise<void>,
): AppendBatch {
  let open: Batch | undefined;

  function openBatch(): Batch {
    const entries: JournalEntry[] = [];
    const appended = new Promise<void>((resolve, reject) => {
      setImmediate(() => {
        open = undefined;
        appendAll(entries).then(resolve, reject);
      });
    });
    return { entries, appended };
  }

  return (entry) => {
    open ??= openBatch();
    open.entries.push(entry);
    return open.appended;
  };
}
