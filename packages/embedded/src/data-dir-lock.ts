import { link, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  makeDirectory,
  randomToken,
  StartupError,
  startupError,
  unwritableError,
} from '@model-gateway/kernel';
import { startTimeOf } from './process-identity.ts';

export const LOCK_FILE = 'lock';
const ATTEMPTS_MAX = 5;

/**
 * Locks a data directory until the returned function is called or the process ends. Creates the directory if it is missing; fails
 * with the holder's process id if another process has the lock.
 */
export async function lockDataDir(dataDir: string): Promise<() => Promise<void>> {
  const lock = join(dataDir, LOCK_FILE);
  const startedAt = (await startTimeOf(process.pid)) ?? '';
  const content = [process.pid, startedAt, randomToken(6), ''].join('\n');
  const draft = `${lock}.${randomToken(6)}`;
  await writing(dataDir, async () => {
    await makeDirectory(dataDir, 0o711);
    await writeFile(draft, content, { flag: 'wx', mode: 0o644 });
  });
  try {
    await takeLock(dataDir, lock, draft);
  } finally {
    await rm(draft, { force: true });
  }
  return async () => {
    if ((await readText(lock)) === content) await rm(lock, { force: true });
  };
}

async function takeLock(dataDir: string, lock: string, draft: string): Promise<void> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    // Creating a link is atomic and fails if the lock exists.
    const taken = await link(draft, lock).then(
      () => true,
      (error: NodeJS.ErrnoException) =>
        error.code === 'EEXIST' ? false : Promise.reject(unwritableError(dataDir, error)),
    );
    if (taken) return;
    const holder = await holderOf(await readText(lock));
    if (holder !== undefined) throw inUse(dataDir, holder);
    await discardStale(lock);
  }
  throw startupError('data_dir_contended', { folder: dataDir });
}

/** Removes the lock of a dead process. If another process has replaced it meanwhile, it is restored. */
async function discardStale(lock: string): Promise<void> {
  const aside = `${lock}.${randomToken(6)}`;
  await rename(lock, aside).catch(() => undefined);
  if ((await holderOf(await readText(aside))) !== undefined)
    await link(aside, lock).catch(() => undefined);
  await rm(aside, { force: true });
}

async function holderOf(content: string | undefined): Promise<number | undefined> {
  const [pidText = '', startedAt = ''] = content?.split('\n') ?? [];
  const pid = Number(pidText);
  const runningSince = await startTimeOf(pid);
  return runningSince !== undefined && runningSince === startedAt ? pid : undefined;
}

/** Runs work that writes to the data directory; a failure becomes an error for the operator. */
export async function writing<Result>(
  dataDir: string,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof StartupError ? error : unwritableError(dataDir, error);
  }
}

function inUse(dataDir: string, pid: number): StartupError {
  return startupError('data_dir_in_use', { folder: dataDir, pid });
}

const readText = (file: string): Promise<string | undefined> =>
  readFile(file, 'utf8').catch(() => undefined);
