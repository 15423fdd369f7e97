// What Linux tells about processes in /proc.
import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';

const NS_PER_MS = 1e6;
const KB_PER_MB = 1024;

/** The text of a file of /proc; empty if the process has ended. */
function read(path: string): string {
  try {
    return readFileSync(`/proc/${path}`, 'utf8');
  } catch {
    return '';
  }
}

function list(path: string): readonly string[] {
  try {
    return readdirSync(`/proc/${path}`);
  } catch {
    return [];
  }
}

function statOf(pid: number): { readonly state: string; readonly parent: number } | undefined {
  const [, state, parent] = /\) (\S) (\d+) /.exec(read(`${pid}/stat`)) ?? [];
  return state === undefined ? undefined : { state, parent: Number(parent) };
}

/** A process and all its descendants. */
export function familyOf(root: number): readonly number[] {
  const pids = list('').filter((name) => /^\d+$/.test(name));
  const parents = new Map(pids.map((pid) => [Number(pid), statOf(Number(pid))?.parent]));
  const isBelow = (pid: number | undefined): boolean =>
    pid === root || (pid !== undefined && pid > 1 && isBelow(parents.get(pid)));
  return [...parents.keys()].filter(isBelow);
}

const threadsOf = (pids: readonly number[]): readonly string[] =>
  pids.flatMap((pid) => list(`${pid}/task`).map((thread) => `${pid}/task/${thread}`));

const sum = (values: readonly number[]): number => values.reduce((total, each) => total + each, 0);

const numberIn = (text: string, pattern: RegExp): number => Number(pattern.exec(text)?.[1] ?? 0);

/** The CPU time of all threads in milliseconds. */
export const cpuMs = (pids: readonly number[]): number =>
  sum(threadsOf(pids).map((thread) => numberIn(read(`${thread}/schedstat`), /^(\d+)/))) / NS_PER_MS;

/** How often the threads waited for something, which is how often they woke up. */
export const wakes = (pids: readonly number[]): number =>
  sum(
    threadsOf(pids).map((thread) =>
      numberIn(read(`${thread}/status`), /^voluntary_ctxt_switches:\s+(\d+)/m),
    ),
  );

/** Their memory in megabytes; what they share counts once. */
export const memoryMb = (pids: readonly number[]): number =>
  sum(pids.map((pid) => numberIn(read(`${pid}/smaps_rollup`), /^Pss:\s+(\d+)/m))) / KB_PER_MB;

/** The arguments that it was started with. */
export const argumentsOf = (pid: number): readonly string[] => read(`${pid}/cmdline`).split('\0');

/** The name of its program; some change the first argument to a sentence about themselves. */
export const programOf = (pid: number): string =>
  basename(/^[^ :]*/.exec(argumentsOf(pid)[0] ?? '')?.[0] ?? '');

/** Whether it runs; a zombie does not. */
export function isRunning(pid: number): boolean {
  const state = statOf(pid)?.state;
  return state !== undefined && state !== 'Z' && state !== 'X';
}

/** The numbers of the cores that this process may use. */
export function allowedCores(): readonly number[] {
  const [, ranges = ''] = /^Cpus_allowed_list:\s*(.*)$/m.exec(read('self/status')) ?? [];
  return ranges.split(',').flatMap((range) => {
    const [first = 0, last = first] = range.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_, index) => first + index);
  });
}
