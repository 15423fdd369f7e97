import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';

// It reads process groups from us until we are gone, for whatever reason: then it ends the last of them and removes the profile,
// again if a process was just writing into it. A line that says "done" tells it that all of this has happened already.
const SCRIPT = `
profile=$1
group=
while read -r word; do
  [ "$word" = done ] && exit 0
  group=$word
done
[ -n "$group" ] && kill -KILL -- "-$group" 2>/dev/null
rm -rf -- "$profile"
for pause in 0.1 0.3; do
  sleep $pause
  [ -e "$profile" ] && rm -rf -- "$profile"
done
`;

const SHELL = '/bin/sh';

/** Watches over a browser and its profile for the case that our process is killed. */
export interface Guard {
  /** The browser runs, as the leader of this process group. */
  watch(group: number): void;
  /** The browser and its profile are gone. */
  done(): void;
}

/** Starts the guard of a profile. Where there is no shell, the next start cleans up instead. */
export function startGuard(profile: string, group?: number): Guard {
  const nothing = (): void => undefined;
  if (process.platform === 'win32' || !existsSync(SHELL)) return { watch: nothing, done: nothing };
  const child = spawn(SHELL, ['-c', SCRIPT, 'guard', profile], {
    // In a group of its own, so that what ends us does not end it.
    detached: true,
    cwd: '/',
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  child.on('error', nothing);
  child.stdin.on('error', nothing);
  child.unref();
  const guard: Guard = {
    watch: (leader) => void child.stdin.write(`${leader}\n`),
    done: () => void child.stdin.end('done\n'),
  };
  if (group !== undefined) guard.watch(group);
  return guard;
}
