import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { errorCode, type Log } from '@model-gateway/kernel';
import { isRunning } from '../../process/is-running.ts';

const PREFIX = 'browser-tool-profile-';
const OWNER_FILE = 'owner.pid';
const NAME_BYTES = 8;
const TEMPORARY_FILE = 'temporary-folder';
const TEMPORARY_PREFIX = 'bt-';
const TEMPORARY_NAME = /^bt-[0-9a-f]{8}$/;
const TEMPORARY_NAME_BYTES = 4;
// Chromium creates a socket in its temporary folder and does not start if the path is longer.
const SOCKET_NAME = 'org.chromium.Chromium.XXXXXX/SingletonSocket';
const SOCKET_PATH_BYTES_MAX = 103;
const SHORT_FOLDER = '/tmp';
// The time between creating a folder and writing its owner file.
const UNOWNED_GRACE_MS = 60_000;
const REMOVE_RETRIES = 20;
const REMOVE_RETRY_MS = 50;

/** The path of a new profile. */
export function newProfilePath(): string {
  return join(tmpdir(), `${PREFIX}${randomBytes(NAME_BYTES).toString('hex')}`);
}

/** The folder for temporary files of a browser: its profile, or another one if the path of the socket would be too long. */
export function temporaryFolderFor(profile: string): string {
  const name = `${TEMPORARY_PREFIX}${randomBytes(TEMPORARY_NAME_BYTES).toString('hex')}`;
  const isShort = (folder: string): boolean =>
    Buffer.byteLength(join(folder, SOCKET_NAME)) <= SOCKET_PATH_BYTES_MAX;
  const possible = [profile, join(tmpdir(), name), join(SHORT_FOLDER, name)];
  return possible.find(isShort) ?? profile;
}

/** Creates an empty profile with an owner file, and its folder for temporary files. */
export async function createProfile(folder: string, temporary = folder): Promise<void> {
  await mkdir(folder, { mode: 0o700 });
  await writeFile(join(folder, OWNER_FILE), String(process.pid));
  if (temporary === folder) return;
  await writeFile(join(folder, TEMPORARY_FILE), temporary);
  await mkdir(temporary, { mode: 0o700 });
}

/** Removes a profile. Retries, because an ending browser may still write into it. */
export async function removeProfile(folder: string): Promise<void> {
  const temporary = await temporaryFolderOf(folder);
  if (temporary !== undefined) await rm(temporary, { recursive: true, force: true });
  await rm(folder, {
    recursive: true,
    force: true,
    maxRetries: REMOVE_RETRIES,
    retryDelay: REMOVE_RETRY_MS,
  });
}

/** The folder for temporary files of a profile, if it is not the profile itself. */
async function temporaryFolderOf(folder: string): Promise<string | undefined> {
  const path = await readFile(join(folder, TEMPORARY_FILE), 'utf8').catch(() => '');
  // Another user may have written the file in a shared temporary folder.
  const isOurs =
    TEMPORARY_NAME.test(basename(path)) && [tmpdir(), SHORT_FOLDER].includes(dirname(path));
  return isOurs ? path : undefined;
}

/** Removes the profiles of processes that have ended. */
export async function sweepProfiles(log: Log): Promise<void> {
  const names = await readdir(tmpdir()).catch(() => []);
  for (const name of names.filter((each) => each.startsWith(PREFIX))) {
    const folder = join(tmpdir(), name);
    if (!(await isStale(folder))) continue;
    await removeProfile(folder).then(
      () => log.info({ folder }, 'removed the profile of an ended process'),
      (error: unknown) => log.warn({ folder, error }, 'removing a stale profile failed'),
    );
  }
}

async function isStale(folder: string): Promise<boolean> {
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
