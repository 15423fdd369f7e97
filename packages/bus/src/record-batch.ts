import type { Journal, JournalEntry, Log } from '@model-gateway/kernel';
import { pause } from './pause.ts';

/** The recorder from the view of a journal. */
export type RecordBatch = Parameters<Journal['drain']>[0];

const RETRY_MIN_MS = 250;
const RETRY_MAX_MS = 5_000;

/**
 * Delivers one batch until it is recorded. False when the signal aborted first; the batch then stays in the journal. Even
 * with an aborted signal the batch is delivered once, since it was already read.
 */
export async function recordBatch(
  record: RecordBatch,
  batch: readonly JournalEntry[],
  { signal, log }: { readonly signal: AbortSignal; readonly log: Log },
): Promise<boolean> {
  let retryMs = RETRY_MIN_MS;
  for (;;) {
    try {
      await record(batch);
      return true;
    } catch (error) {
      log.warn({ error, entries: batch.length, retryMs }, 'recording a journal batch failed');
    }
    await pause(retryMs, signal);
    if (signal.aborted) return false;
    retryMs = Math.min(retryMs * 2, RETRY_MAX_MS);
  }
}
