import { spawn } from 'node:child_process';

// Runs a command and reads from a pipe of the parent process. When the pipe closes, on a stop or because the parent has
// ended for any reason, the command is stopped, and killed after the grace time: alone, or with its whole process group.
// The guard leads that group, so that Ctrl-C in a terminal does not reach the command before the parent has drained.
// Standard output contains the process id of the command; everything else is its log.
const GUARD = `
stop=$1 force=$2 grace=$3 target=$4
shift 4
exec 3<&0 </dev/null
"$@" 3<&- >&2 &
child=$!
echo "$child"
exec >&2
if [ "$target" = group ]; then target=0; trap '' TERM; else target=$child; fi
(read -r _ <&3; kill -"$stop" "$target"; sleep "$grace"; kill -"$force" "$target") >/dev/null 2>&1 &
exec 3<&-
wait "$child"
status=$?
if [ "$target" != 0 ]; then trap '' TERM; kill -TERM 0; fi
exit "$status"
`;

/** The environment of a program that must not get the parent's environment, which contains secrets. */
export const SYSTEM_ENVIRONMENT: Readonly<Record<string, string>> = {
  PATH: '/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin',
  TZ: 'UTC',
};

const LAST_LINES_KEPT = 20;
const LINE_CHARS_MAX = 65_536;
const LAST_LINES_MS = 200;
const NO_STATUS = 255;

interface GuardedCommand {
  readonly command: readonly string[];
  /** All of its environment. */
  readonly environment: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly identity?: { readonly uid: number; readonly gid: number } | undefined;
  readonly stopSignal?: 'INT' | 'TERM';
  readonly forceSignal?: 'QUIT' | 'KILL';
  readonly graceSeconds: number;
  /** Stop everything that the command started together with it, also when it ends by itself. */
  readonly wholeGroup?: boolean;
  /** Called with every line of its output; a line that overwrites itself counts each time. */
  readonly onLine?: (line: string) => void;
}

/** A command under a guard, which outlives the parent only as long as a clean stop takes. */
export interface GuardedProcess {
  /** The process id of the command itself, known once it runs. */
  readonly pid: Promise<number>;
  /** Resolves when the command has exited, with its exit status: 128 or more for a signal. */
  readonly exited: Promise<number>;
  /** The last lines of output, for an error report. */
  lastLines(): readonly string[];
  /** Stops it, kills it after the grace time, and waits for its end. */
  stop(): Promise<void>;
}

/** Starts a command under its guard. */
export function startGuarded(options: GuardedCommand): GuardedProcess {
  const { command, environment, cwd = '/', identity, graceSeconds, wholeGroup, onLine } = options;
  const { stopSignal = 'TERM', forceSignal = 'KILL' } = options;
  const target = wholeGroup === true ? 'group' : 'command';
  const args = [stopSignal, forceSignal, String(Math.ceil(graceSeconds)), target, ...command];
  const guard = spawn('/bin/sh', ['-c', GUARD, 'guard', ...args], {
    detached: true,
    cwd,
    env: { ...environment },
    stdio: ['pipe', 'pipe', 'pipe'],
    ...identity,
  });
  const lines: string[] = [];
  const note = (line: string): void => {
    lines.push(line);
    if (lines.length > LAST_LINES_KEPT) lines.shift();
    onLine?.(line);
  };
  guard.stderr.setEncoding('utf8').on('data', createLineSplitter(note));
  const pid = new Promise<number>((resolve) => {
    guard.stdout.setEncoding('utf8').on(
      'data',
      createLineSplitter((line) => resolve(Number(line))),
    );
    guard.stdout.on('close', () => resolve(0));
  });
  const exited = new Promise<number>((resolve) => {
    guard.once('error', (error) => {
      note(error.message);
      resolve(NO_STATUS);
    });
    guard.once('exit', (status) => {
      const settle = (): void => resolve(status ?? NO_STATUS);
      // The last lines may still arrive; a child that keeps running could hold the pipe open for longer.
      guard.once('close', settle);
      setTimeout(settle, LAST_LINES_MS).unref();
    });
  });
  // A guard that has ended does not read the pipe. If it was killed, its command must stop as well.
  guard.stdin.on('error', () => undefined);
  void exited.then(() => guard.stdin.destroy());
  return {
    pid,
    exited,
    lastLines: () => lines,
    async stop() {
      guard.stdin.end();
      await exited;
    },
  };
}

/** Lines end with a line feed, or with the carriage return with which progress bars overwrite themselves. */
function createLineSplitter(onLine: (line: string) => void): (text: string) => void {
  let rest = '';
  return (text) => {
    const parts = (rest + text).split(/\r\n|\n|\r/);
    rest = (parts.pop() ?? '').slice(-LINE_CHARS_MAX);
    for (const part of parts) if (part.trim() !== '') onLine(part.slice(0, LINE_CHARS_MAX));
  };
}
