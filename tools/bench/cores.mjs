// Always two cores: the measured process runs alone on one, everything else on the other.
import { readFileSync } from 'node:fs';
import { runCommand } from '../../scripts/run-command.mjs';

/** The two cores of a run; undefined if processes cannot be pinned. */
export async function chooseCores() {
  if (process.platform !== 'linux') return undefined;
  const [measured, load] = allowedCores();
  if (load === undefined || !(await runCommand('taskset', ['--version'])).ok) return undefined;
  return { measured: String(measured), load: String(load), both: `${measured},${load}` };
}

function allowedCores() {
  const list = /^Cpus_allowed_list:\s*(.*)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
  return (list ?? '').split(',').flatMap((range) => {
    const [first, last = first] = range.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_, index) => first + index);
  });
}

/** Moves a running process with all its threads; its later children stay on the same core. */
export async function moveTo(cores, pid) {
  await runCommand('taskset', ['--all-tasks', '--cpu-list', '--pid', cores, String(pid)]);
}

/** Runs a command on the given cores. */
export const pinned = (cores, command) =>
  cores === undefined ? command : ['taskset', '--cpu-list', cores, ...command];
