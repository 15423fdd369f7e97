import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';

// It reads process groups from us until we are gone, for whatever reason: then it ends the last of them and removes the profile,
// with the folder for temporary files, again if a process was just writing into it. A browser whose group we had no time to tell
// ends by itself, a little later. A line that says "done" tells it that all of this has happened already.
const SCRIPT = `
profile=$1
temporary=$2
group=
while read -r word; do
  [ "$word" = done ] && exit 0
  group=$word
done
pauses='0.1 0.3'
if [ -n "$group" ]; then kill -s KILL -- "-$group" 2>/dev/null
else pauses="$pauses 1 2 4"
fi
rm -rf -- "$profile" "$temporary"
for pause in $pauses; do
  sleep $pause
  rm -rf -- "$profile" "$temporary"
done
`;

const SHELL = '/bin/sh';

/** Watches over a browser and its profile for the case that our process is killed. */
export interface Guard {
  /** The browser runs, as the leader of this process group. */
  setGroup(group: number): void;
  /** The browser and its profile are gone. */
  done(): void;
}

/** Starts the guard of a profile that is yet to be made. Where there is no shell, the next start cleans up instead. */
export function startGuard(profile: string, temporary = profile): Guard {
  const nothing = (): void => undefined;
  if (process.platform === 'win32' || !existsSync(SHELL))
    return { setGroup: nothing, done: nothing };
  const child = spawn(SHELL, ['-c', SCRIPT, 'guard', profile, temporary], {
    // In a group of its own, so that what ends us does not end it.
    detached: true,
    cwd: '/',
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  child.on('error', nothing);
  child.stdin.on('error', nothing);
  child.unref();
  return {
    setGroup: (leader) => void child.stdin.write(`${leader}\n`),
    done: () => void child.stdin.end('done\n'),
  };
}
