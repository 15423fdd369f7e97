import { spawn } from 'node:child_process';

// Leads a process group of its own and runs the command in it. A watcher holds the read end of a pipe from us: when the
// pipe closes, because we ask, because the command has ended or because our process is gone for whatever reason, the
// whole group is asked to stop, and forced after the grace time. So nothing that an engine started outlives it, and no
// engine outlives us. Ctrl-C at a terminal does not reach the group; we stop it ourselves.
const GUARD = `
grace=$1
shift
exec 3<&0 </dev/null
"$@" 3<&- &
child=$!
trap '' TERM
(read -r _ <&3; kill -TERM 0; sleep "$grace"; kill -KILL 0) >/dev/null 2>&1 &
exec 3<&-
wait "$child"
`;

const LAST_LINES_KEPT = 20;
const LINE_CHARS_MAX = 2_000;
const LAST_LINES_MS = 200;
const NO_STATUS = 255;
const SIGNALLED = 128;

interface GuardedOptions {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly graceSecs: number;
  /** Told every line of its output; what is written over in place counts as lines too. */
  readonly onLine: (line: string) => void;
}

/** A command with everything that it starts. */
export interface GuardedProcess {
  /** Settles when the command has ended, with its status: 128 and more for a signal. */
  readonly exited: Promise<number>;
  lastLines(): readonly string[];
  /** Asks it to stop, forces it after the grace time, and waits. */
  stop(): Promise<void>;
}

export function startGuarded({ command, env, graceSecs, onLine }: GuardedOptions): GuardedProcess {
  const guard = spawn('/bin/sh', ['-c', GUARD, 'guard', String(Math.ceil(graceSecs)), ...command], {
    detached: true,
    env: { ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const lines: string[] = [];
  const note = (line: string): void => {
    lines.push(line);
    if (lines.length > LAST_LINES_KEPT) lines.shift();
    onLine(line);
  };
  for (const output of [guard.stdout, guard.stderr]) {
    const split = createLineSplitter(note);
    output.setEncoding('utf8').on('data', split);
  }
  const exited = new Promise<number>((resolve) => {
    guard.once('error', (error) => {
      note(error.message);
      resolve(NO_STATUS);
    });
    guard.once('exit', (status, signal) => {
      const settle = (): void => resolve(status ?? (signal === null ? NO_STATUS : SIGNALLED));
      // Its last lines may still be on their way; what it left running could hold the pipe open for longer.
      guard.once('close', settle);
      setTimeout(settle, LAST_LINES_MS);
    });
  });
  // A guard that is gone does not read.
  guard.stdin.on('error', () => undefined);
  void exited.then(() => guard.stdin.destroy());
  return {
    exited,
    lastLines: () => lines,
    async stop() {
      guard.stdin.end();
      await exited;
    },
  };
}

/** Lines end with a line feed, or with the carriage return by which progress bars write over themselves. */
function createLineSplitter(onLine: (line: string) => void): (text: string) => void {
  let rest = '';
  return (text) => {
    const parts = (rest + text).split(/\r\n|\n|\r/);
    rest = (parts.pop() ?? '').slice(-LINE_CHARS_MAX);
    for (const part of parts) if (part.trim() !== '') onLine(part.slice(0, LINE_CHARS_MAX));
  };
}
