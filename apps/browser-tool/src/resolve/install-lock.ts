import { readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { errorCode, randomToken } from '@model-gateway/kernel';
import { isRunning } from '../chromium/process/is-running.ts';

const POLL_MS = 100;
const TOUCH_MS = 2_000;
// Whether a holder on another machine runs cannot be checked, so every holder touches its file.
const STALE_AFTER_MS = 30_000;

interface Holder {
  readonly pid: number;
  readonly host: string;
  readonly token: string;
}

interface LockOptions {
  readonly path: string;
  readonly waitMaxMs: number;
  readonly signal: AbortSignal;
}

/**
 * Runs `work` in one process at a time. The lock of a dead holder is replaced. Two processes may then hold the lock for a moment,
 * which is safe because an installation is moved into place in one step.
 */
export async function withInstallLock<Result>(
  { path, waitMaxMs, signal }: LockOptions,
  work: () => Promise<Result>,
): Promise<Result> {
  const own: Holder = { pid: process.pid, host: hostname(), token: randomToken(8) };
  await acquire(path, own, Date.now() + waitMaxMs, signal);
  const touching = setInterval(() => void touch(path), TOUCH_MS);
  touching.unref();
  try {
    return await work();
  } finally {
    clearInterval(touching);
    const holder = await readHolder(path);
    if (holder?.token === own.token) await rm(path, { force: true });
  }
}

async function acquire(
  path: string,
  own: Holder,
  deadline: number,
  signal: AbortSignal,
): Promise<void> {
  while (!(await create(path, own))) {
    if (await isAbandoned(path)) {
      await rm(path, { force: true });
    } else if (Date.now() > deadline) {
      throw new Error(
        `another process holds the lock ${path} for too long; remove the file if no such process runs`,
      );
    } else {
      await delay(POLL_MS, undefined, { signal });
    }
  }
}

async function create(path: string, own: Holder): Promise<boolean> {
  try {
    await writeFile(path, JSON.stringify(own), { flag: 'wx' });
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  }
}

async function isAbandoned(path: string): Promise<boolean> {
  const holder = await readHolder(path);
  if (holder?.host === hostname()) return !isRunning(holder.pid);
  const entry = await stat(path).catch(() => undefined);
  return entry !== undefined && Date.now() - entry.mtimeMs > STALE_AFTER_MS;
}

async function readHolder(path: string): Promise<Holder | undefined> {
  try {
    const value: unknown = JSON.parse(await readFile(path, 'utf8'));
    return isHolder(value) ? value : undefined;
  } catch {
    // Removed, or not written yet.
    return undefined;
  }
}

function isHolder(value: unknown): value is Holder {
  return (
    typeof value === 'object' &&
    value !== null &&
    'pid' in value &&
    typeof value.pid === 'number' &&
    'host' in value &&
    'token' in value
  );
}

async function touch(path: string): Promise<void> {
  const now = new Date();
  await utimes(path, now, now).catch(() => undefined);
}
