import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { ownEnvironment } from '../../process/config.ts';

// Reads process groups from the tool until the tool ends for any reason. Then it kills the last group and removes the profile and
// the temporary folder, repeatedly because a process may still write into them. A browser whose group was not sent in time ends by
// itself a little later. The line "done" means that everything is cleaned up already.
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

/** Cleans up the browser and its profile if the tool's process is killed. */
export interface CrashCleanup {
  /** Sets the process group of the browser. */
  setGroup(group: number): void;
  /** The browser has ended and its profile is removed. */
  done(): void;
}

/** Starts the cleanup process before the profile exists. Without a shell, the next start of the tool cleans up instead. */
export function startCrashCleanup(profile: string, temporary = profile): CrashCleanup {
  const nothing = (): void => undefined;
  if (process.platform === 'win32' || !existsSync(SHELL))
    return { setGroup: nothing, done: nothing };
  const child = spawn(SHELL, ['-c', SCRIPT, 'crash-cleanup', profile, temporary], {
    // In its own group, so that a signal to the tool's group does not end it.
    detached: true,
    cwd: '/',
    env: { PATH: ownEnvironment()['PATH'] },
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
