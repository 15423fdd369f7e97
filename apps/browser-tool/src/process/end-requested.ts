import { isStartedByRunner } from './config.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const PARENT_POLL_MS = 500;

/** Settles when the process shall end: a signal came, or the package runner that started it is gone. */
export function endRequested(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of SIGNALS) process.on(signal, () => resolve(signal));
    if (!isStartedByRunner()) return;
    // npm and pnpm pass signals on, but nothing tells us when they are killed.
    const parent = process.ppid;
    setInterval(() => {
      if (process.ppid !== parent) resolve('the package runner is gone');
    }, PARENT_POLL_MS).unref();
  });
}
