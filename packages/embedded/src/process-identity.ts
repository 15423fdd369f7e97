import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);
const POLL_MS = 50;

/**
 * The start time of a process, which distinguishes it from a later one with the same id. Undefined if no such process runs; a
 * zombie counts as not running.
 */
export async function startTimeOf(pid: number): Promise<string | undefined> {
  if (!mayRun(pid)) return undefined;
  if (process.platform !== 'linux') return readFromPs(pid, 'lstart=');
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  // The second field is the name in parentheses and may contain anything, so the fields after the last parenthesis are counted.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, startedAtTicks] = [fields?.[0], fields?.[19]];
  return state === 'Z' || state === 'X' ? undefined : startedAtTicks;
}

/** The command line of a process, its arguments separated by spaces; empty for a zombie. */
export async function commandLineOf(pid: number): Promise<string | undefined> {
  if (!mayRun(pid)) return undefined;
  if (process.platform !== 'linux') return readFromPs(pid, 'command=');
  const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => undefined);
  return line?.replaceAll('\0', ' ').trim();
}

interface EndOptions {
  readonly stopSignal: NodeJS.Signals;
  readonly forceSignal: NodeJS.Signals;
  readonly graceMs: number;
}

/** Stops a process that is not a child, and waits for its end; returns whether it ended. */
export async function endProcess(pid: number, options: EndOptions): Promise<boolean> {
  for (const signal of [options.stopSignal, options.forceSignal]) {
    try {
      process.kill(pid, signal);
    } catch {
      // It has ended or belongs to another user; the following wait shows which.
    }
    if (await endsWithin(pid, options.graceMs)) return true;
  }
  return false;
}

async function endsWithin(pid: number, milliseconds: number): Promise<boolean> {
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

async function readFromPs(pid: number, column: string): Promise<string | undefined> {
  const output = await run('ps', ['-o', column, '-p', String(pid)]).catch(() => undefined);
  const text = output?.stdout.trim();
  return text === '' ? undefined : text;
}
