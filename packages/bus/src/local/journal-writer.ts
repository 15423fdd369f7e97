import { existsSync } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import type { Log } from '@model-gateway/kernel';

/** Appends lines to files; lines that arrive together are written together. */
export interface JournalWriter {
  /** Resolves when the operating system has the line, so that it survives a crash of this process. */
  append(line: string): Promise<void>;
  /** The number of entries in the current file. */
  entries(): number;
  /** Ends the current file after all earlier appends, and does something before the next one. */
  endFile<Result>(andThen: () => Promise<Result>): Promise<Result>;
  /** Writes pending lines, syncs them and closes the file. */
  close(): Promise<void>;
}

interface WriterOptions {
  readonly nextPath: () => string;
  readonly log: Log;
  readonly fileBytesMax: number;
}

interface Waiting {
  readonly line: string;
  readonly bytes: number;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

interface Active {
  readonly handle: FileHandle;
  readonly path: string;
  entries: number;
  bytes: number;
}

const GROUP_BYTES_MAX = 1024 * 1024;
const WAITING_BYTES_MAX = 64 * 1024 * 1024;
const SYNC_EVERY_MS = 1_000;

/**
 * A process that records the files renames one before it reads it. So a line is read if its file still has its name after the
 * write. If not, the line may have come too late, and is written again to another file.
 */
export function createJournalWriter(options: WriterOptions): JournalWriter {
  const { nextPath, log, fileBytesMax } = options;
  const waiting: Waiting[] = [];
  let waitingBytes = 0;
  let active: Active | undefined;
  let syncTimer: NodeJS.Timeout | undefined;
  let tail: Promise<void> = Promise.resolve();

  /** File operations run one after another. */
  function inTurn<Result>(task: () => Promise<Result>): Promise<Result> {
    const done = tail.then(task);
    tail = done.then(
      () => undefined,
      () => undefined,
    );
    return done;
  }

  async function openActive(): Promise<Active> {
    if (active !== undefined && !existsSync(active.path)) await closeActive({ durable: false });
    if (active === undefined) {
      const path = nextPath();
      active = { handle: await open(path, 'a', 0o600), path, entries: 0, bytes: 0 };
    }
    return active;
  }

  async function closeActive({ durable }: { readonly durable: boolean }): Promise<void> {
    if (active === undefined) return;
    const { handle, path } = active;
    active = undefined;
    clearTimeout(syncTimer);
    syncTimer = undefined;
    try {
      if (durable) await handle.datasync();
      await handle.close();
    } catch (error) {
      log.warn({ error, path }, 'a journal file did not close cleanly');
    }
  }

  function takeGroup(): Waiting[] {
    let bytes = 0;
    let count = 0;
    for (const entry of waiting) {
      if (count > 0 && bytes + entry.bytes > GROUP_BYTES_MAX) break;
      bytes += entry.bytes;
      count += 1;
    }
    waitingBytes -= bytes;
    return waiting.splice(0, count);
  }

  async function writeWaiting(): Promise<void> {
    while (waiting.length > 0) {
      const group = takeGroup();
      try {
        const text = Buffer.from(group.map(({ line }) => line).join(''));
        let file: Active;
        do {
          file = await openActive();
          await writeAll(file.handle, text);
        } while (!existsSync(file.path));
        file.bytes += text.length;
        file.entries += group.length;
        for (const { resolve } of group) resolve();
        if (file.bytes >= fileBytesMax) await closeActive({ durable: true });
        else syncSoon(file);
      } catch (error) {
        // The last line may be incomplete: later lines go to a new file, so that they do not continue it.
        for (const { reject } of group) reject(error);
        await closeActive({ durable: false });
      }
    }
  }

  /** Like Redis with `appendfsync everysec`: a power failure can lose the last second, a crashed process nothing. */
  function syncSoon({ handle, path }: Active): void {
    syncTimer ??= setTimeout(() => {
      syncTimer = undefined;
      handle.datasync().catch((error: unknown) => {
        if (active?.handle === handle) log.warn({ error, path }, 'syncing the journal failed');
      });
    }, SYNC_EVERY_MS).unref();
  }

  return {
    append(line) {
      const bytes = Buffer.byteLength(line);
      if (waitingBytes + bytes > WAITING_BYTES_MAX) {
        return Promise.reject(new Error('the journal cannot be written as fast as it is filled'));
      }
      waitingBytes += bytes;
      return new Promise((resolve, reject) => {
        waiting.push({ line, bytes, resolve, reject });
        if (waiting.length === 1) void inTurn(writeWaiting);
      });
    },
    entries: () => active?.entries ?? 0,
    endFile: (andThen) => inTurn(() => closeActive({ durable: false }).then(andThen)),
    close: () => inTurn(() => closeActive({ durable: true })),
  };
}

async function writeAll(handle: FileHandle, text: Buffer): Promise<void> {
  for (let offset = 0; offset < text.length;) {
    const { bytesWritten } = await handle.write(text, offset);
    offset += bytesWritten;
  }
}
