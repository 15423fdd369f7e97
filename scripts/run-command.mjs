// Runs programs for the other scripts: quiet, and with their whole output when they fail.
import { spawn } from 'node:child_process';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The root of the repository. */
export const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];
const INTERRUPTED = 130;
const running = new Set();
let isEnding = false;

/**
 * Runs a program to its end and answers `{ ok, output, seconds }`. With `show`, its output goes straight to the terminal.
 */
export function runCommand(command, args, { env = {}, show = false, cwd = ROOT } = {}) {
  const startedAt = performance.now();
  const child = spawn(command, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', show ? 'inherit' : 'pipe', show ? 'inherit' : 'pipe'],
  });
  running.add(child);
  const chunks = [];
  child.stdout?.on('data', (chunk) => chunks.push(chunk));
  child.stderr?.on('data', (chunk) => chunks.push(chunk));
  return new Promise((resolve) => {
    const end = (ok, more = '') => {
      running.delete(child);
      // After a signal nothing goes on: whoever waits for an answer waits for the end of this process.
      if (isEnding && running.size === 0) process.exit(INTERRUPTED);
      if (isEnding) return;
      const output = Buffer.concat(chunks).toString() + more;
      resolve({ ok, output, seconds: (performance.now() - startedAt) / 1000 });
    };
    child.once('error', (error) => end(false, `${error.message}\n`));
    child.once('close', (status) => end(status === 0));
  });
}

/** Passes a signal on to what runs and ends with it. Call the returned function to leave signals to somebody else. */
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

/** Ends the process with one sentence, after the output that explains it. */
export function fail(sentence, output = '') {
  process.stderr.write(`${output.trim() === '' ? '' : `${output.trimEnd()}\n\n`}${sentence}\n`);
  process.exit(1);
}
