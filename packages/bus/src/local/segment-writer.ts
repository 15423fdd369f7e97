import { open, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log } from '@model-gateway/kernel';
import { formatSegmentName, type SegmentOwner } from './segment-name.ts';

/** A file of entries that is no longer appended to. */
export interface Segment {
  readonly path: string;
  /** How many entries are left to record. */
  remaining: number;
  /** How many from the start this process has recorded. */
  recorded: number;
}

/** Appends lines to segment files; lines that arrive together are written together. */
export interface SegmentWriter {
  /** Resolves when the operating system has the line, so that it survives a crash of this process. */
  append(line: string): Promise<void>;
  /** The number of entries in the current segment. */
  entries(): number;
  /** The current segment, if there is one. */
  path(): string | undefined;
  nextPath(): string;
  /** Ends the current segment after all earlier appends. */
  seal(): Promise<void>;
  /** Writes pending lines, syncs them and closes the file. */
  close(): Promise<void>;
}

interface WriterOptions {
  readonly directory: string;
  readonly owner: SegmentOwner;
  readonly log: Log;
  readonly segmentBytesMax: number;
  /** Called once for each segment that will not grow any more. */
  readonly onSealed: (segment: Segment) => void;
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

export function createSegmentWriter(options: WriterOptions): SegmentWriter {
  const { directory, owner, log, segmentBytesMax, onSealed } = options;
  const waiting: Waiting[] = [];
  let waitingBytes = 0;
  let active: Active | undefined;
  let sequence = 0;
  let syncTimer: NodeJS.Timeout | undefined;
  let tail: Promise<void> = Promise.resolve();

  /** File operations run one after another. Tasks handle their own failures. */
  function inTurn(task: () => Promise<void>): Promise<void> {
    tail = tail.then(task);
    return tail;
  }

  function nextPath(): string {
    sequence += 1;
    return join(directory, formatSegmentName({ owner, sequence }));
  }

  async function openActive(): Promise<Active> {
    if (active === undefined) {
      const path = nextPath();
      active = { handle: await open(path, 'a', 0o600), path, entries: 0, bytes: 0 };
    }
    return active;
  }

  async function sealActive({ durable }: { readonly durable: boolean }): Promise<void> {
    const sealed = active;
    if (sealed === undefined) return;
    active = undefined;
    clearTimeout(syncTimer);
    syncTimer = undefined;
    // In the same step, so that its entries are always counted.
    onSealed({ path: sealed.path, remaining: sealed.entries, recorded: 0 });
    try {
      if (durable) await sealed.handle.datasync();
      await sealed.handle.close();
    } catch (error) {
      log.warn({ error, path: sealed.path }, 'a journal segment did not close cleanly');
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
        const segment = await openActive();
        const text = Buffer.from(group.map(({ line }) => line).join(''));
        await writeAll(segment.handle, text);
        segment.bytes += text.length;
        segment.entries += group.length;
        for (const { resolve } of group) resolve();
        if (segment.bytes >= segmentBytesMax) await sealActive({ durable: true });
        else syncSoon(segment);
      } catch (error) {
        // The last line may be incomplete: later lines go to a new file, so that they do not continue it.
        for (const { reject } of group) reject(error);
        await sealActive({ durable: false });
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
    path: () => active?.path,
    nextPath,
    seal: () => inTurn(() => sealActive({ durable: false })),
    close: () => inTurn(() => sealActive({ durable: true })),
  };
}

async function writeAll(handle: FileHandle, text: Buffer): Promise<void> {
  for (let offset = 0; offset < text.length;) {
    const { bytesWritten } = await handle.write(text, offset);
    offset += bytesWritten;
  }
}
