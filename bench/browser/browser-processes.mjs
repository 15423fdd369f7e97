// When the browser of a server is gone. Processes that only wait to be buried are gone.
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 5;
const PATIENCE_MS = 10_000;

/** The processes below a process, itself left out. */
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

/** Waits until none of these runs; answers after how many milliseconds, or undefined if some stay. */
export async function untilGone(pids) {
  const start = performance.now();
  while (performance.now() - start < PATIENCE_MS) {
    if (!pids.some((pid) => isRunning(pid))) return performance.now() - start;
    await sleep(POLL_MS);
  }
  return undefined;
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
