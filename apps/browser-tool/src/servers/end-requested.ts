import { isStartedByRunner } from '../process/config.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const PARENT_POLL_MS = 500;

/** Settles when the process should end: by a signal, or because the package runner that started it has ended. */
export function endRequested(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of SIGNALS) process.on(signal, () => resolve(signal));
    if (!isStartedByRunner()) return;
    // npm and pnpm forward signals, but not when they are killed themselves.
    const parent = process.ppid;
    setInterval(() => {
      if (process.ppid !== parent) resolve('the package runner has ended');
    }, PARENT_POLL_MS).unref();
  });
}
