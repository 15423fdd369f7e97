import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';

// It reads from us until we are gone, for whatever reason: then it ends the browser's process group and removes its profile.
// A line that says "done" tells it that all of this has happened already.
const SCRIPT = `
profile=$1 group=$2
read -r word
[ "$word" = done ] && exit 0
kill -KILL -- "-$group" 2>/dev/null
tries=0
while kill -0 -- "-$group" 2>/dev/null && [ $tries -lt 100 ]; do sleep 0.05; tries=$((tries + 1)); done
rm -rf -- "$profile" || { sleep 0.5; rm -rf -- "$profile"; }
`;

const SHELL = '/bin/sh';

/** Watches over a browser for the case that our process is killed. */
export interface Guard {
  /** The browser and its profile are gone. */
  done(): void;
}

/** Starts the guard of a browser, by its process group. Where there is no shell, the next start cleans up instead. */
export function startGuard(profile: string, group: number): Guard {
  if (process.platform === 'win32' || !existsSync(SHELL)) return { done: () => undefined };
  const child = spawn(SHELL, ['-c', SCRIPT, 'guard', profile, String(group)], {
    // In a group of its own, so that what ends us does not end it.
    detached: true,
    cwd: '/',
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  child.on('error', () => undefined);
  child.stdin.on('error', () => undefined);
  child.unref();
  return { done: () => void child.stdin.end('done\n') };
}
