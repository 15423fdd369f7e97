import { ServiceError, type UsageEvent } from '@model-gateway/contracts';
import type { Journal, JournalEntry, Log } from '@model-gateway/kernel';

/** Writes usage events to the journal. What the journal does not take is kept in memory until it does. */
export interface UsageWriter {
  /** Resolves when the event would survive a crash of this process, or when it is kept. */
  write(event: UsageEvent): Promise<void>;
  /** Throws while events are kept: what is served then could be lost unmetered. */
  assertWritable(): void;
  /** Tries a last time. */
  stop(): Promise<void>;
}

interface UsageWriterDependencies {
  readonly journal: Pick<Journal, 'append'>;
  readonly log: Log;
  readonly retryAfterMs?: number;
  readonly keptMax?: number;
}

const RETRY_AFTER_MS = 1_000;
/** Requests that were in flight when the journal failed; each event is about a kilobyte. */
const KEPT_MAX = 10_000;

export function createUsageWriter(dependencies: UsageWriterDependencies): UsageWriter {
  const { journal, log } = dependencies;
  const { retryAfterMs = RETRY_AFTER_MS, keptMax = KEPT_MAX } = dependencies;
  let kept: JournalEntry[] = [];
  let retry: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();

  function keep(entry: JournalEntry, error: unknown): void {
    // The journal will never take an entry that is too large.
    if (error instanceof RangeError || kept.length >= keptMax) {
      log.error({ error, usage_event: entry.body }, 'a usage event is lost');
      return;
    }
    if (kept.length === 0) log.error({ error }, 'usage cannot be written; requests are refused');
    kept.push(entry);
    retrySoon();
  }

  function retrySoon(): void {
    retry ??= setTimeout(() => {
      writing = writeKept();
    }, retryAfterMs).unref();
  }

  async function writeKept(): Promise<void> {
    try {
      for (let [first] = kept; first !== undefined; [first] = kept) {
        await journal.append(first);
        kept = kept.slice(1);
      }
      log.info({}, 'usage is written again');
      retry = undefined;
    } catch (error) {
      log.warn({ error, events: kept.length }, 'usage still cannot be written');
      retry = undefined;
      retrySoon();
    }
  }

  return {
    write(event) {
      const entry = { id: event.id, body: JSON.stringify(event) };
      return journal.append(entry).catch((error: unknown) => keep(entry, error));
    },
    assertWritable() {
      if (kept.length > 0)
        throw new ServiceError(
          'store_unavailable',
          'usage cannot be written at the moment, so no request is served; try again in a few seconds',
        );
    },
    async stop() {
      clearTimeout(retry);
      await writing;
      clearTimeout(retry);
      if (kept.length > 0) await writeKept();
      clearTimeout(retry);
      for (const { body } of kept) log.error({ usage_event: body }, 'a usage event is lost');
    },
  };
}
