import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { SYSTEM_ENVIRONMENT, type Identity } from './system-command.ts';

// Runs a command and holds the read end of a pipe from us. When the pipe closes, because we ask or because our process
// is gone for whatever reason, the command is stopped, and forced after the grace time. When the command ends by itself
// the guard ends too. It leads a process group of its own, so that a terminal's Ctrl-C does not reach the command
// before our process has drained. Standard output carries the command's process id; everything else is its log.
const GUARD = `
stop=$1 force=$2 grace=$3
shift 3
exec 3<&0 </dev/null
"$@" 3<&- >&2 &
child=$!
echo "$child"
exec >&2
(read -r _ <&3; kill -"$stop" "$child"; sleep "$grace"; kill -"$force" "$child") 2>/dev/null &
exec 3<&-
wait "$child"
status=$?
trap '' TERM
kill -TERM 0
exit "$status"
`;

const LOG_LINES_KEPT = 20;
const NO_STATUS = 255;
const LAST_LINES_MS = 200;

interface GuardedCommand {
  readonly command: readonly string[];
  readonly stopSignal: 'INT' | 'TERM';
  readonly forceSignal: 'QUIT' | 'KILL';
  readonly graceSeconds: number;
  readonly identity?: Identity | undefined;
  /** Variables beside the few that every command gets. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly onLine: (line: string) => void;
}

/** A command under a guard that outlives us by exactly as long as a clean stop takes. */
export interface GuardedChild {
  /** The process id of the command itself, known once it runs. */
  readonly pid: Promise<number>;
  /** Settles when the command is gone, with its exit status: 128 and more for a signal. */
  readonly exited: Promise<number>;
  /** What the command wrote last, for a report. */
  lastLines(): readonly string[];
  stop(): Promise<void>;
}

/** Starts a command under its guard. */
export function startGuarded(options: GuardedCommand): GuardedChild {
  const { command, stopSignal, forceSignal, graceSeconds, identity, environment, onLine } = options;
  const guard = spawn(
    '/bin/sh',
    ['-c', GUARD, 'guard', stopSignal, forceSignal, String(graceSeconds), ...command],
    {
      detached: true,
      cwd: '/',
      env: { ...SYSTEM_ENVIRONMENT, ...environment },
      stdio: ['pipe', 'pipe', 'pipe'],
      ...identity,
    },
  );
  const lines: string[] = [];
  const note = (line: string): void => {
    lines.push(line);
    if (lines.length > LOG_LINES_KEPT) lines.shift();
    onLine(line);
  };
  createInterface({ input: guard.stderr }).on('line', note);
  const exited = new Promise<number>((resolve) => {
    guard.once('error', (error) => {
      note(error.message);
      resolve(NO_STATUS);
    });
    guard.once('exit', (status) => {
      const settle = (): void => resolve(status ?? NO_STATUS);
      // Its last lines may still be on their way; what it left running could hold the pipe open for longer.
      guard.once('close', settle);
      setTimeout(settle, LAST_LINES_MS).unref();
    });
  });
  // A guard that is gone does not read: whoever killed it, its command must not go on without it.
  guard.stdin.on('error', () => undefined);
  void exited.then(() => guard.stdin.destroy());
  return {
    pid: firstLine(guard.stdout).then(Number),
    exited,
    lastLines: () => lines,
    async stop() {
      guard.stdin.end();
      await exited;
    },
  };
}

async function firstLine(stream: Readable): Promise<string> {
  for await (const line of createInterface({ input: stream })) return line;
  return '';
}
