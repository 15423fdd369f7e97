// Runs programs for the other scripts and collects their output.
import { spawn } from 'node:child_process';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** The root of the repository. */
export const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];
const INTERRUPTED = 130;
const running = new Set();
let isEnding = false;

/**
 * Runs a program and returns `{ ok, output, seconds }`. With `show`, its output goes directly to the terminal; `onLine` gets each
 * line of it too. `node` is the Node that runs this, whatever the PATH has.
 */
export function runCommand(command, args, { env = {}, show = false, cwd = ROOT, onLine } = {}) {
  const startedAt = performance.now();
  const child = spawn(command === 'node' ? process.execPath : command, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', show ? 'inherit' : 'pipe', show ? 'inherit' : 'pipe'],
  });
  running.add(child);
  const chunks = [];
  child.stdout?.on('data', (chunk) => chunks.push(chunk));
  child.stderr?.on('data', (chunk) => chunks.push(chunk));
  if (onLine !== undefined)
    for (const stream of [child.stdout, child.stderr]) createInterface(stream).on('line', onLine);
  return new Promise((resolve) => {
    const end = (ok, more = '') => {
      running.delete(child);
      // After a signal the process ends, so the promise does not settle.
      if (isEnding && running.size === 0) process.exit(INTERRUPTED);
      if (isEnding) return;
      const output = Buffer.concat(chunks).toString() + more;
      resolve({ ok, output, seconds: (performance.now() - startedAt) / 1000 });
    };
    child.once('error', (error) => end(false, `${error.message}\n`));
    child.once('close', (status) => end(status === 0));
  });
}

/** Forwards signals to the running programs and ends with them. The returned function stops this. */
export function endChildrenOnSignal() {
  const onSignal = (signal) => {
    isEnding = true;
    for (const child of running) child.kill(signal);
    if (running.size === 0) process.exit(INTERRUPTED);
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  return () => {
    for (const signal of SIGNALS) process.off(signal, onSignal);
  };
}

/** Prints the output and a message, and ends the process with status 1. */
export function fail(message, output = '') {
  process.stderr.write(`${output.trim() === '' ? '' : `${output.trimEnd()}\n\n`}${message}\n`);
  process.exit(1);
}
