// The processes of a server and its browser: their memory, and when they end. Zombies count as ended.
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 5;
const TIMEOUT_MS = 10_000;

/** The descendants of a process. */
export function processesBelow(pid) {
  const parents = new Map();
  for (const name of readdirSync('/proc').filter((each) => /^\d+$/.test(each))) {
    const stat = readStat(name);
    if (stat !== undefined) parents.set(Number(name), stat.parent);
  }
  const isBelow = (each) => {
    for (let current = parents.get(each); current > 1; current = parents.get(current)) {
      if (current === pid) return true;
    }
    return false;
  };
  return [...parents.keys()].filter(isBelow);
}

/** The memory of some processes; shared memory counts once. */
export function memoryMb(pids) {
  const usedKb = (pid) => {
    try {
      return Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1]);
    } catch {
      return 0;
    }
  };
  return pids.reduce((sum, pid) => sum + usedKb(pid), 0) / 1024;
}

/** The processes of a browser among some processes; a server may have others, such as a guard. */
export function browsersAmong(pids) {
  return pids.filter((pid) => {
    try {
      return /--(type|user-data-dir)=/.test(readFileSync(`/proc/${pid}/cmdline`, 'utf8'));
    } catch {
      return false;
    }
  });
}

/** Waits until none of these runs; returns the milliseconds, or Infinity if some still run. */
export async function untilExited(pids) {
  const start = performance.now();
  while (performance.now() - start < TIMEOUT_MS) {
    if (!pids.some((pid) => isRunning(pid))) return performance.now() - start;
    await sleep(POLL_MS);
  }
  return Infinity;
}

function isRunning(pid) {
  const state = readStat(pid)?.state;
  return state !== undefined && state !== 'Z' && state !== 'X';
}

function readStat(pid) {
  try {
    const [, state, parent] =
      /\) (\S) (\d+) /.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? [];
    return { state, parent: Number(parent) };
  } catch {
    return undefined;
  }
}
