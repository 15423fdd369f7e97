import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Journal, Log } from '@model-gateway/kernel';
import { encodeJournalLine, requireEntrySize } from '../journal-line.ts';
import { gatherMs } from '../gather.ts';
import { linkedAbort } from '../linked-abort.ts';
import { pause } from '../pause.ts';
import { recordBatch, type RecordBatch } from '../record-batch.ts';
import {
  adoptSegments,
  prepareJournalDirectory,
  readSegment,
  releaseSegment,
  removeSegment,
  touchSegment,
} from './segment-files.ts';
import { newSegmentOwner } from './segment-name.ts';
import { createSegmentWriter, type Segment } from './segment-writer.ts';
import { createWakeUp } from './wake-up.ts';

/**
 * The journal as append-only files in the data directory. A file is drained once it is no longer appended to and deleted when
 * all of it has been recorded; after a crash its entries are delivered again from the start of the file.
 */
export interface FileJournal extends Journal {
  /** Rejects with a StartupError when the directory cannot be written. */
  start(): Promise<void>;
  close(): Promise<void>;
}

interface FileJournalOptions {
  readonly dataDir: string;
  readonly log: Log;
  readonly instanceName: string;
  readonly segmentBytesMax?: number;
}

const SEGMENT_BYTES_MAX = 8 * 1024 * 1024;
const TOUCH_EVERY_MS = 15_000;
const ADOPT_EVERY_MS = 60_000;
const READ_RETRY_MS = 1_000;

export function createFileJournal(options: FileJournalOptions): FileJournal {
  const { dataDir, log, instanceName } = options;
  const directory = join(dataDir, 'journal');
  const owner = newSegmentOwner(instanceName, Date.now());
  const sealed: Segment[] = [];
  const changed = createWakeUp();
  const closing = new AbortController();
  const writer = createSegmentWriter({
    directory,
    owner,
    log,
    segmentBytesMax: options.segmentBytesMax ?? SEGMENT_BYTES_MAX,
    onSealed: (segment) => {
      sealed.push(segment);
      changed.wake();
    },
  });
  let touchTimer: NodeJS.Timeout | undefined;
  let adoptDueAt = 0;
  let drainTurn: Promise<void> = Promise.resolve();
  let closed: Promise<void> | undefined;

  async function adoptWhenDue(): Promise<void> {
    if (performance.now() < adoptDueAt) return;
    adoptDueAt = performance.now() + ADOPT_EVERY_MS;
    const now = Date.now();
    const nextPath = (): string => writer.nextPath();
    const paths = await adoptSegments({ directory, me: owner, now, nextPath });
    for (const path of paths) {
      sealed.push({ path, remaining: await countLines(path), recorded: 0 });
    }
    if (paths.length > 0) log.info({ segments: paths.length }, 'took over journal segments');
  }

  function touchAll(): void {
    const now = Date.now();
    const active = writer.path();
    const paths = [...sealed.map(({ path }) => path), ...(active === undefined ? [] : [active])];
    Promise.all(paths.map((path) => touchSegment(path, now))).catch((error: unknown) => {
      log.warn({ error, directory }, 'touching the journal segments failed');
    });
  }

  /** Delivers the rest of a segment and deletes it, unless the signal aborts first. */
  async function drainSegment(
    segment: Segment,
    record: RecordBatch,
    batchSize: number,
    signal: AbortSignal,
  ): Promise<void> {
    const entries = await readSegment(segment.path, log);
    while (entries !== undefined && segment.recorded < entries.length) {
      if (signal.aborted) return;
      const batch = entries.slice(segment.recorded, segment.recorded + batchSize);
      if (!(await recordBatch(record, batch, { signal, log }))) return;
      segment.recorded += batch.length;
      segment.remaining = Math.max(0, segment.remaining - batch.length);
    }
    await removeSegment(segment.path);
    sealed.splice(sealed.indexOf(segment), 1);
  }

  async function drainUntil(
    record: RecordBatch,
    batchSize: number,
    signal: AbortSignal,
  ): Promise<void> {
    let lastEntries = 0;
    while (!signal.aborted) {
      try {
        await adoptWhenDue();
        const [oldest] = sealed;
        if (oldest !== undefined) {
          lastEntries = oldest.remaining;
          await drainSegment(oldest, record, batchSize, signal);
        } else if (writer.entries() === 0) {
          await changed.wait(Math.max(1, adoptDueAt - performance.now()), signal);
        } else {
          // Also a single entry waits, so that each does not get its own file.
          if (writer.entries() < batchSize) await pause(gatherMs(lastEntries), signal);
          if (!signal.aborted) await writer.seal();
        }
      } catch (error) {
        log.error({ error, directory }, 'reading the journal failed');
        await pause(READ_RETRY_MS, signal);
      }
    }
  }

  async function closeAll(): Promise<void> {
    closing.abort();
    clearInterval(touchTimer);
    await drainTurn;
    await writer.close();
    for (const { path } of sealed) await releaseSegment(path);
  }

  return {
    async start() {
      await prepareJournalDirectory(directory, owner);
      touchTimer = setInterval(touchAll, TOUCH_EVERY_MS).unref();
    },
    async append(entry) {
      if (closing.signal.aborted) throw new Error('the journal is closed');
      requireEntrySize(entry);
      await writer.append(encodeJournalLine(entry));
      changed.wake();
    },
    drain(record, { batchSize, signal }) {
      const stop = linkedAbort(signal, closing.signal);
      // One drainer at a time: two would deliver the same file.
      drainTurn = drainTurn
        .then(() => drainUntil(record, batchSize, stop.signal))
        .finally(() => stop.unlink());
      return drainTurn;
    },
    lag: () =>
      Promise.resolve(sealed.reduce((total, { remaining }) => total + remaining, writer.entries())),
    close() {
      closed ??= closeAll();
      return closed;
    },
  };
}

async function countLines(path: string): Promise<number> {
  const text = await readFile(path);
  let lines = 0;
  for (let at = text.indexOf(10); at !== -1; at = text.indexOf(10, at + 1)) lines += 1;
  return lines;
}
