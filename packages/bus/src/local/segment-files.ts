import { readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import {
  errorCode,
  type JournalEntry,
  type Log,
  makeDirectory,
  unwritableError,
} from '@model-gateway/kernel';
import { decodeJournalLine } from '../journal-line.ts';
import { formatSegmentName, parseSegmentName, type SegmentOwner } from './segment-name.ts';
import { isOwnerDead } from '../process-owner.ts';

/** Creates the directory and checks that files can be written there. */
export async function prepareJournalDirectory(
  directory: string,
  owner: SegmentOwner,
): Promise<void> {
  const probe = join(directory, `.writable-${owner.nonce}`);
  try {
    await makeDirectory(directory, 0o700);
    await writeFile(probe, '');
    await rm(probe);
  } catch (error) {
    throw unwritableError(directory, error);
  }
}

/** The entries of a segment in order, or undefined when another owner has taken it over. Incomplete lines are omitted. */
export async function readSegment(
  path: string,
  log: Log,
): Promise<readonly JournalEntry[] | undefined> {
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
}

/** Deletes a completely recorded segment. */
export const removeSegment = (path: string): Promise<void> => rm(path, { force: true });

interface AdoptOptions {
  readonly directory: string;
  readonly me: SegmentOwner;
  readonly now: number;
  readonly nextPath: () => string;
}

/** Takes over the segments whose owner has ended, oldest first, and returns their new paths. */
export async function adoptSegments(options: AdoptOptions): Promise<readonly string[]> {
  const { directory, me, now, nextPath } = options;
  const named = (await readdir(directory)).flatMap((file) => {
    const name = parseSegmentName(file);
    return name === undefined || name.owner.nonce === me.nonce ? [] : [{ file, ...name }];
  });
  named.sort((a, b) => a.owner.createdAt - b.owner.createdAt || a.sequence - b.sequence);
  const adopted: string[] = [];
  for (const { file, owner } of named) {
    const path = join(directory, file);
    const found = await stat(path).catch(undefinedIfMissing);
    if (found === undefined || !isOwnerDead(owner, me, now - found.mtimeMs)) continue;
    const taken = nextPath();
    // Of several attempts one succeeds; for the others the file does not exist any more.
    const won = await rename(path, taken).then(() => true, undefinedIfMissing);
    if (won === undefined) continue;
    await touchSegment(taken, now);
    adopted.push(taken);
  }
  return adopted;
}

/** Shows that the owner of a segment is alive. */
export async function touchSegment(path: string, now: number): Promise<void> {
  await utimes(path, now / 1000, now / 1000).catch(undefinedIfMissing);
}

/** Releases a segment, so that the next drainer of the directory takes it at once. */
export async function releaseSegment(path: string): Promise<void> {
  const name = parseSegmentName(basename(path));
  if (name === undefined) return;
  const released = formatSegmentName({ ...name, owner: { ...name.owner, pid: 0 } });
  await rename(path, join(path, '..', released)).catch(undefinedIfMissing);
}

function undefinedIfMissing(error: unknown): undefined {
  if (errorCode(error) === 'ENOENT') return undefined;
  throw error;
}
