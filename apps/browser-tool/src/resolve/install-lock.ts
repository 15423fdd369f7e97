import { readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { errorCode, randomToken } from '@model-gateway/kernel';

const POLL_MS = 100;
const TOUCH_MS = 2_000;
// A holder on another machine cannot be asked whether it lives; it touches its file instead.
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
 * Runs `work` in one process at a time. A holder that died is passed over; that two may hold it then for a moment is no harm
 * here, because an installation is put in place in one step.
 */
export async function withInstallLock<Result>(
  { path, waitMaxMs, signal }: LockOptions,
  work: () => Promise<Result>,
): Promise<Result> {
  const own: Holder = { pid: process.pid, host: hostname(), token: randomToken(8) };
  await acquire(path, own, Date.now() + waitMaxMs, signal);
  const beat = setInterval(() => void touch(path), TOUCH_MS);
  beat.unref();
  try {
    return await work();
  } finally {
    clearInterval(beat);
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
        `another process holds ${path} and does not finish; remove it if there is none`,
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
  if (holder?.host === hostname()) return !isAlive(holder.pid);
  const entry = await stat(path).catch(() => undefined);
  return entry !== undefined && Date.now() - entry.mtimeMs > STALE_AFTER_MS;
}

async function readHolder(path: string): Promise<Holder | undefined> {
  try {
    const value: unknown = JSON.parse(await readFile(path, 'utf8'));
    return isHolder(value) ? value : undefined;
  } catch {
    // Gone, or not written yet.
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

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // It lives, and belongs to somebody else.
    return errorCode(error) === 'EPERM';
  }
}

async function touch(path: string): Promise<void> {
  const now = new Date();
  await utimes(path, now, now).catch(() => undefined);
}
