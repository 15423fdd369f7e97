import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, mkdir, open, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { errorCode, type Log } from '@model-gateway/kernel';
import { isRunning } from './is-running.ts';

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
// Other users of a shared temporary folder may fill it.
const SWEPT_MAX = 1_000;
const FILE_BYTES_MAX = 4_096;
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
  const path = await readOwnFile(join(folder, TEMPORARY_FILE)).catch(() => '');
  const isExpected =
    TEMPORARY_NAME.test(basename(path)) && [tmpdir(), SHORT_FOLDER].includes(dirname(path));
  return isExpected && (await isOwnFolder(path)) ? path : undefined;
}

/** Removes the profiles of processes that have ended. */
export async function sweepProfiles(log: Log): Promise<void> {
  const names = await readdir(tmpdir()).catch(() => []);
  const profiles = names.filter((each) => each.startsWith(PREFIX));
  for (const name of profiles.slice(0, SWEPT_MAX)) {
    const folder = join(tmpdir(), name);
    if (!(await isOwnFolder(folder)) || !(await isStale(folder))) continue;
    await removeProfile(folder).then(
      () => log.info({ folder }, 'removed the profile of an ended process'),
      (error: unknown) => log.warn({ folder, error }, 'removing a stale profile failed'),
    );
  }
}

/** Whether a path is a folder of this user, and not a link to one. */
async function isOwnFolder(path: string): Promise<boolean> {
  const entry = await lstat(path).catch(() => undefined);
  return entry?.isDirectory() === true && isOwn(entry);
}

function isOwn({ uid }: { readonly uid: number }): boolean {
  // Windows has no user ids; its temporary folder belongs to one user.
  return process.getuid === undefined || uid === process.getuid();
}

/** Reads a small file of this user. Anything else fails at once: opening a FIFO would block a thread until there is a writer. */
async function readOwnFile(path: string): Promise<string> {
  const { O_RDONLY, O_NONBLOCK, O_NOFOLLOW } = constants;
  const file = await open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW);
  try {
    const entry = await file.stat();
    if (!entry.isFile() || !isOwn(entry)) throw new Error(`${path} is not a file of this user`);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(FILE_BYTES_MAX));
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}

async function isStale(folder: string): Promise<boolean> {
  try {
    const pid = Number(await readOwnFile(join(folder, OWNER_FILE)));
    if (Number.isInteger(pid) && pid > 0) return !isRunning(pid);
    return Date.now() - (await lstat(folder)).mtimeMs > UNOWNED_GRACE_MS;
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') return false;
    const made = await lstat(folder).catch(() => undefined);
    return made !== undefined && Date.now() - made.mtimeMs > UNOWNED_GRACE_MS;
  }
}
