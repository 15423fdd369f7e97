import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { errorCode, type Log } from '@model-gateway/kernel';

const PREFIX = 'browser-tool-profile-';
const OWNER_FILE = 'owner.pid';
const NAME_BYTES = 8;
// Between making a folder and writing its owner down.
const UNOWNED_GRACE_MS = 60_000;
const REMOVE_RETRIES = 20;
const REMOVE_RETRY_MS = 50;

/** Where a new profile will be. */
export function newProfilePath(): string {
  return join(tmpdir(), `${PREFIX}${randomBytes(NAME_BYTES).toString('hex')}`);
}

/** Makes an empty profile folder that is marked as ours. */
export async function createProfile(folder: string): Promise<void> {
  await mkdir(folder, { mode: 0o700 });
  await writeFile(join(folder, OWNER_FILE), String(process.pid));
}

/** Removes a profile folder; a browser that is just ending may still write into it for a moment. */
export async function removeProfile(folder: string): Promise<void> {
  await rm(folder, {
    recursive: true,
    force: true,
    maxRetries: REMOVE_RETRIES,
    retryDelay: REMOVE_RETRY_MS,
  });
}

/** Removes the profiles of processes that are gone. */
export async function sweepProfiles(log: Log): Promise<void> {
  const names = await readdir(tmpdir()).catch(() => []);
  for (const name of names.filter((each) => each.startsWith(PREFIX))) {
    const folder = join(tmpdir(), name);
    if (!(await isLeftBehind(folder))) continue;
    await removeProfile(folder).then(
      () => log.info({ folder }, 'removed the profile of a process that is gone'),
      (error: unknown) => log.warn({ folder, error }, 'a stale profile could not be removed'),
    );
  }
}

async function isLeftBehind(folder: string): Promise<boolean> {
  try {
    const pid = Number(await readFile(join(folder, OWNER_FILE), 'utf8'));
    if (Number.isInteger(pid) && pid > 0) return !isRunning(pid);
    return Date.now() - (await stat(folder)).mtimeMs > UNOWNED_GRACE_MS;
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') return false;
    const made = await stat(folder).catch(() => undefined);
    return made !== undefined && Date.now() - made.mtimeMs > UNOWNED_GRACE_MS;
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
}
