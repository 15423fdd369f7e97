import { randomBytes } from 'node:crypto';
import { readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import {
  errorCode,
  type JournalEntry,
  type Log,
  makeDirectory,
  unwritableError,
} from '@model-gateway/kernel';
import { decodeJournalLine } from '../journal-line.ts';

/** The journal files of a data directory. Every process appends to its own, and any process may take and record all of them. */
export interface JournalFiles {
  /** Creates the directory and checks that files can be written there. */
  prepare(): Promise<void>;
  /** A new file for this process to append to. */
  nextPath(): string;
  /** The names of the files that no other process is recording, oldest first. */
  listFree(): Promise<readonly string[]>;
  /** Renames a file, so that others neither take it nor append to it. Returns its path, or undefined when another took it. */
  take(file: string): Promise<string | undefined>;
  /** The entries of a taken file in order, or undefined when another process has taken it too. Incomplete lines are omitted. */
  read(path: string): Promise<readonly JournalEntry[] | undefined>;
  /** Deletes a file that is completely recorded. */
  remove(path: string): Promise<void>;
  /** The entries of all files, without those that were recorded of files in progress. */
  count(recordedOf: (path: string) => number): Promise<number>;
}

interface JournalFilesOptions {
  readonly directory: string;
  readonly log: Log;
}

/** `time~host~nonce~number.jsonl`; a taken file also has the time when it was taken and the nonce of who took it. */
const NAME = /^([^~]*~([^~]*)~.*\.jsonl)(?:\.(\d+)~(\w+))?$/;
/** A process that records a file for longer may have crashed. If it has not, entries are delivered twice. */
const TAKEN_STALE_MS = 60_000;
/** Over a network file system the writer of a file notices late that it was taken, so only unused files of other hosts are. */
const OTHER_HOST_IDLE_MS = 600_000;

export function createJournalFiles({ directory, log }: JournalFilesOptions): JournalFiles {
  const host = hostname().replaceAll(/[^A-Za-z0-9.-]/g, '');
  const nonce = randomBytes(6).toString('hex');
  const createdAt = Date.now();
  let sequence = 0;
  let hasLooked = false;
  /** The lines of each file, by its name. */
  let counted = new Map<string, { readonly bytes: number; readonly lines: number }>();

  const list = async (): Promise<string[]> =>
    (await readdir(directory)).filter((file) => NAME.test(file)).toSorted();

  async function isFree(file: string, now: number): Promise<boolean> {
    const [, , itsHost, takenAt, takenBy] = NAME.exec(file) ?? [];
    if (takenBy === nonce) return false;
    // At its start a process takes everything: whoever was recording it has probably ended.
    const isRecorded = takenAt !== undefined && now - Number(takenAt) <= TAKEN_STALE_MS;
    if (isRecorded && hasLooked) return false;
    if (itsHost === host) return true;
    const found = await stat(join(directory, file)).catch(undefinedIfMissing);
    return found !== undefined && now - found.mtimeMs > OTHER_HOST_IDLE_MS;
  }

  async function linesOf(file: string): Promise<number | undefined> {
    const path = join(directory, file);
    const found = await stat(path).catch(undefinedIfMissing);
    if (found === undefined) return undefined;
    const known = counted.get(file);
    if (known?.bytes === found.size) return known.lines;
    const bytes = await readFile(path).catch(undefinedIfMissing);
    if (bytes === undefined) return undefined;
    let lines = 0;
    for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) lines += 1;
    counted.set(file, { bytes: bytes.length, lines });
    return lines;
  }

  /** Undefined when a file was renamed or deleted meanwhile. */
  async function countOnce(recordedOf: (path: string) => number): Promise<number | undefined> {
    const files = await list();
    counted = new Map([...counted].filter(([file]) => files.includes(file)));
    let total = 0;
    for (const file of files) {
      const lines = await linesOf(file);
      if (lines === undefined) return undefined;
      total += lines - recordedOf(join(directory, file));
    }
    return total;
  }

  return {
    async prepare() {
      const probe = join(directory, `.writable-${nonce}`);
      try {
        await makeDirectory(directory, 0o700);
        await writeFile(probe, '');
        await rm(probe);
      } catch (error) {
        throw unwritableError(directory, error);
      }
    },
    nextPath() {
      sequence += 1;
      const number = String(sequence).padStart(8, '0');
      return join(directory, `${createdAt}~${host}~${nonce}~${number}.jsonl`);
    },
    async listFree() {
      const now = Date.now();
      const free: string[] = [];
      for (const file of await list()) if (await isFree(file, now)) free.push(file);
      hasLooked = true;
      return free;
    },
    async take(file) {
      const [, original = file] = NAME.exec(file) ?? [];
      const path = join(directory, `${original}.${Date.now()}~${nonce}`);
      // Of several attempts one succeeds; for the others the file does not exist any more.
      return rename(join(directory, file), path).then(() => path, undefinedIfMissing);
    },
    async read(path) {
      const text = await readFile(path, 'utf8').catch(undefinedIfMissing);
      if (text === undefined) return undefined;
      const entries: JournalEntry[] = [];
      for (const line of text.split('\n')) {
        if (line === '') continue;
        const entry = decodeJournalLine(line);
        if (entry === undefined) log.warn({ path }, 'an incomplete journal line was skipped');
        else entries.push(entry);
      }
      return entries;
    },
    remove: (path) => rm(path, { force: true }),
    async count(recordedOf) {
      for (;;) {
        const total = await countOnce(recordedOf);
        if (total !== undefined) return total;
      }
    },
  };
}

function undefinedIfMissing(error: unknown): undefined {
  if (errorCode(error) === 'ENOENT') return undefined;
  throw error;
}
