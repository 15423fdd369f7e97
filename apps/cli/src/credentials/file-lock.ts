import { randomUUID } from 'node:crypto';
import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { CliError } from '../cli-error.ts';

const RETRY_MS = 25;
/** Longer than a call of the service may take: the owner is gone. */
const STALE_MS = 120_000;
const WAIT_MAX_MS = 150_000;

interface LockOwner {
  readonly id: string;
  readonly pid: number;
  readonly host: string;
}

/** Runs a function while no other process does so with the same lock file. A lock whose process ended is removed. */
export async function withFileLock<Result>(
  path: string,
  run: () => Promise<Result>,
): Promise<Result> {
  const owner: LockOwner = { id: randomUUID(), pid: process.pid, host: hostname() };
  const startedAt = Date.now();
  while (!(await create(path, owner))) {
    if (await isStale(path)) await removeStale(path, owner);
    if (Date.now() - startedAt > WAIT_MAX_MS) throw lockedTooLong(path);
    await sleep(RETRY_MS);
  }
  try {
    return await run();
  } finally {
    await rm(path, { force: true });
  }
}

/** Creating a file fails where another process was first. */
async function create(path: string, owner: LockOwner): Promise<boolean> {
  try {
    await writeFile(path, JSON.stringify(owner), { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

/** Only one process at a time removes a stale lock: otherwise a second one could remove the lock of the next owner. */
async function removeStale(path: string, owner: LockOwner): Promise<void> {
  const removal = `${path}.removal`;
  if (!(await create(removal, owner))) return;
  try {
    if (await isStale(path)) await rm(path, { force: true });
  } finally {
    await rm(removal, { force: true });
  }
}

async function isStale(path: string): Promise<boolean> {
  try {
    const { mtimeMs } = await stat(path);
    if (Date.now() - mtimeMs > STALE_MS) return true;
    const owner = JSON.parse(await readFile(path, 'utf8')) as LockOwner;
    // A process id says nothing on another machine or in another container.
    return owner.host === hostname() && !isRunning(owner.pid);
  } catch {
    // Removed meanwhile, or not written yet.
    return false;
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}

const codeOf = (error: unknown): unknown =>
  error instanceof Error && 'code' in error ? error.code : undefined;

const lockedTooLong = (path: string): CliError =>
  new CliError(
    'failed',
    `another process holds ${path}`,
    `If no other \`gateway\` command runs, remove ${path} and ${path}.removal.`,
  );
