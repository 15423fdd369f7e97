import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);
const POLL_MS = 50;

/**
 * What tells one process from a later one under the same id: the time it started. Undefined when no such process runs;
 * one that has ended and waits for its parent to notice counts as gone.
 */
export async function startTimeOf(pid: number): Promise<string | undefined> {
  if (!mayRun(pid)) return undefined;
  if (process.platform !== 'linux') return askPs(pid, 'lstart=');
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  // The second field is the name in parentheses and may hold anything, so that counting starts after the last one.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, startedAtTicks] = [fields?.[0], fields?.[19]];
  return state === 'Z' || state === 'X' ? undefined : startedAtTicks;
}

/** The command line of a process, its arguments separated by spaces; empty for one that has ended unnoticed. */
export async function commandLineOf(pid: number): Promise<string | undefined> {
  if (!mayRun(pid)) return undefined;
  if (process.platform !== 'linux') return askPs(pid, 'command=');
  const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => undefined);
  return line?.replaceAll('\0', ' ').trim();
}

interface EndOptions {
  readonly stopSignal: NodeJS.Signals;
  readonly forceSignal: NodeJS.Signals;
  readonly graceMs: number;
}

/** Stops a process that is not our child, and waits until it is gone; false when it does not go. */
export async function endProcess(pid: number, options: EndOptions): Promise<boolean> {
  for (const signal of [options.stopSignal, options.forceSignal]) {
    try {
      process.kill(pid, signal);
    } catch {
      // Already gone, or not ours to stop; the wait tells which.
    }
    if (await isGoneWithin(pid, options.graceMs)) return true;
  }
  return false;
}

async function isGoneWithin(pid: number, milliseconds: number): Promise<boolean> {
  const deadline = performance.now() + milliseconds;
  while (performance.now() < deadline) {
    if ((await startTimeOf(pid)) === undefined) return true;
    await sleep(POLL_MS);
  }
  return false;
}

function mayRun(pid: number): boolean {
  return Number.isSafeInteger(pid) && pid > 0;
}

async function askPs(pid: number, column: string): Promise<string | undefined> {
  const answer = await run('ps', ['-o', column, '-p', String(pid)]).catch(() => undefined);
  const text = answer?.stdout.trim();
  return text === '' ? undefined : text;
}
