import { execFileSync } from 'node:child_process';
import { allowedCores } from './proc.ts';

/** Which cores run what, as `taskset` names them. */
export interface Cores {
  /** What is measured runs alone on one core. */
  readonly measured: string;
  /** This process is the load and the upstream, and runs on another one. */
  readonly load: string;
  readonly both: string;
}

/** Moves this process to the core of the load. */
export function chooseCores(): Cores {
  const [measured, load] = allowedCores();
  if (measured === undefined || load === undefined)
    throw new Error('the benchmark needs two cores of Linux');
  execFileSync('taskset', ['--all-tasks', '--cpu-list', '--pid', `${load}`, `${process.pid}`], {
    stdio: 'ignore',
  });
  return { measured: `${measured}`, load: `${load}`, both: `${measured},${load}` };
}
