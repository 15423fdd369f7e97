import { watch, type FSWatcher } from 'node:fs';
import { join } from 'node:path';
import type { Journal, Log } from '@model-gateway/kernel';
import { encodeJournalLine, requireEntrySize } from '../journal-line.ts';
import { gatherMs } from '../gather.ts';
import { linkedAbort } from '../linked-abort.ts';
import { pause } from '../pause.ts';
import { recordBatch, type RecordBatch } from '../record-batch.ts';
import { createJournalFiles } from './journal-files.ts';
import { createJournalWriter } from './journal-writer.ts';
import { createWakeUp } from './wake-up.ts';

/**
 * The journal as append-only files in the data directory. Each process appends to files of its own. Whichever process drains
 * takes all files, also those that others append to, records them and deletes them. After a crash the entries of a file are
 * delivered again from its start.
 */
export interface FileJournal extends Journal {
  /** Rejects with a StartupError when the directory cannot be written. */
  start(): Promise<void>;
  close(): Promise<void>;
}

interface FileJournalOptions {
  readonly dataDir: string;
  readonly log: Log;
  readonly fileBytesMax?: number;
  /** How long the entries of other processes wait at most where their files cannot be watched. */
  readonly lookEveryMs?: number;
}

type DrainOptions = Parameters<Journal['drain']>[1];

/** A file that this process records. */
interface TakenFile {
  readonly path: string;
  /** How many entries from the start are recorded. */
  recorded: number;
}

const FILE_BYTES_MAX = 8 * 1024 * 1024;
const LOOK_EVERY_MS = 2_000;
/** Files whose recorder has ended become free without a change. */
const LOOK_WATCHED_EVERY_MS = 30_000;
const READ_RETRY_MS = 1_000;

export function createFileJournal(options: FileJournalOptions): FileJournal {
  const { dataDir, log, fileBytesMax = FILE_BYTES_MAX, lookEveryMs = LOOK_EVERY_MS } = options;
  const directory = join(dataDir, 'journal');
  const files = createJournalFiles({ directory, log });
  const writer = createJournalWriter({ nextPath: () => files.nextPath(), log, fileBytesMax });
  let taken: TakenFile | undefined;
  const appended = createWakeUp();
  const closing = new AbortController();
  let drainTurn: Promise<void> = Promise.resolve();
  let closed: Promise<void> | undefined;

  /** Delivers the rest of a file and deletes it. Returns how many entries it had; undefined when the signal aborted first. */
  async function drainFile(
    file: TakenFile,
    record: RecordBatch,
    { batchSize, signal }: DrainOptions,
  ): Promise<number | undefined> {
    const entries = (await files.read(file.path)) ?? [];
    while (file.recorded < entries.length) {
      if (signal.aborted) return undefined;
      const batch = entries.slice(file.recorded, file.recorded + batchSize);
      if (!(await recordBatch(record, batch, { signal, log }))) return undefined;
      file.recorded += batch.length;
    }
    await files.remove(file.path);
    taken = undefined;
    return entries.length;
  }

  /** Delivers the files that there are now, also the one that this process appends to. Returns how many entries they had. */
  async function drainRound(record: RecordBatch, drainOptions: DrainOptions): Promise<number> {
    let drained = 0;
    for (const file of await writer.endFile(() => files.listFree())) {
      if (drainOptions.signal.aborted) break;
      const path = await files.take(file);
      if (path === undefined) continue;
      taken = { path, recorded: 0 };
      const entries = await drainFile(taken, record, drainOptions);
      if (entries === undefined) break;
      drained += entries;
    }
    return drained;
  }

  /** Wakes up the drainer when another process appends; undefined where the directory cannot be watched. */
  function watchFiles(): FSWatcher | undefined {
    try {
      return watch(directory, () => appended.wake()).on('error', () => undefined);
    } catch {
      return undefined;
    }
  }

  async function drainUntil(record: RecordBatch, drainOptions: DrainOptions): Promise<void> {
    const { batchSize, signal } = drainOptions;
    while (!signal.aborted) {
      // From before the look at the files, so that no change is missed.
      const watcher = watchFiles();
      const wakes = appended.count();
      try {
        if (taken !== undefined && (await drainFile(taken, record, drainOptions)) === undefined)
          return;
        const drained = await drainRound(record, drainOptions);
        if (drained === 0 && writer.entries() === 0) {
          const waitMs = watcher === undefined ? lookEveryMs : LOOK_WATCHED_EVERY_MS;
          if (!(await appended.wait(wakes, waitMs, signal))) continue;
        }
        // Also a single entry waits, so that each does not get its own file.
        if (writer.entries() < batchSize) await pause(gatherMs(drained), signal);
      } catch (error) {
        log.error({ error, directory }, 'reading the journal failed');
        await pause(READ_RETRY_MS, signal);
      } finally {
        watcher?.close();
      }
    }
  }

  async function closeAll(): Promise<void> {
    closing.abort();
    await drainTurn;
    await writer.close();
  }

  return {
    start: () => files.prepare(),
    async append(entry) {
      if (closing.signal.aborted) throw new Error('the journal is closed');
      requireEntrySize(entry);
      await writer.append(encodeJournalLine(entry));
      appended.wake();
    },
    drain(record, { batchSize, signal }) {
      const stop = linkedAbort(signal, closing.signal);
      // One drainer at a time: two would deliver the same file.
      drainTurn = drainTurn
        .then(() => drainUntil(record, { batchSize, signal: stop.signal }))
        .finally(() => stop.unlink());
      return drainTurn;
    },
    lag: () => files.count((path) => (taken?.path === path ? taken.recorded : 0)),
    close() {
      closed ??= closeAll();
      return closed;
    },
  };
}
