import { mkdir, rm, stat, utimes } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { errorCode } from '@model-gateway/kernel';

const POLL_MS = 100;
const TOUCH_MS = 2_000;
const STALE_AFTER_MS = 10_000;

interface LockOptions {
  /** The folder that is the lock. `work` may write into it; it is removed afterwards. */
  readonly path: string;
  readonly waitMaxMs: number;
  readonly signal: AbortSignal;
}

/** Runs `work` in one process at a time. A lock that nothing has touched for a while is of a process that was killed. */
export async function withInstallLock<Result>(
  { path, waitMaxMs, signal }: LockOptions,
  work: () => Promise<Result>,
): Promise<Result> {
  const deadline = Date.now() + waitMaxMs;
  while (!(await create(path))) {
    const entry = await stat(path).catch(() => undefined);
    if (entry !== undefined && Date.now() - entry.mtimeMs > STALE_AFTER_MS) {
      await rm(path, { recursive: true, force: true });
    } else if (Date.now() > deadline) {
      throw new Error(
        `another process holds the lock ${path} for too long; remove it if no such process runs`,
      );
    } else {
      await delay(POLL_MS, undefined, { signal });
    }
  }
  const touching = setInterval(() => {
    utimes(path, Date.now() / 1000, Date.now() / 1000).catch(() => undefined);
  }, TOUCH_MS);
  try {
    return await work();
  } finally {
    clearInterval(touching);
    await rm(path, { recursive: true, force: true });
  }
}

async function create(path: string): Promise<boolean> {
  try {
    await mkdir(path);
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  }
}
