import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { readCliConfig, runCli } from '../src/app.ts';

const MAIN = join(import.meta.dirname, '..', 'dist', 'main.js');

/** The file with the sign-ins. */
export interface StoredFile {
  current: string;
  services: Record<string, { sign_in: Record<string, string | number>; admin_token?: string }>;
}

/** What a command printed, and its exit status. */
export interface CommandResult {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface RunOptions {
  /** What is piped into the command. */
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** The command line with one environment. */
export interface CommandLine {
  /** Runs the build as a process. */
  run(args: readonly string[], options?: RunOptions): Promise<CommandResult>;
  /** Runs the sources in this process, which takes a fraction of the time. */
  runHere(args: readonly string[], options?: RunOptions): Promise<CommandResult>;
  /** The parsed output of a command that succeeds in this process. */
  json(args: readonly string[], options?: RunOptions): Promise<unknown>;
  /** Starts a process without waiting for its end. */
  start(args: readonly string[]): { readonly child: ChildProcess; readonly stdout: () => string };
  /** Everything that all commands printed. */
  printed(): string;
}

export function createCommandLine(environment: Readonly<Record<string, string>>): CommandLine {
  const texts: string[] = [];

  function open(args: readonly string[], { env }: RunOptions = {}) {
    const child = spawn(process.execPath, [MAIN, ...args], { env: { ...environment, ...env } });
    return { child, stdout: collect(child.stdout), stderr: collect(child.stderr) };
  }

  async function run(args: readonly string[], options: RunOptions = {}): Promise<CommandResult> {
    const { child, stdout, stderr } = open(args, options);
    child.stdin.end(options.stdin ?? '');
    const [status] = (await once(child, 'close')) as [number | null];
    texts.push(stdout(), stderr());
    return { status, stdout: stdout(), stderr: stderr() };
  }

  async function runHere(
    args: readonly string[],
    { stdin = '', env }: RunOptions = {},
  ): Promise<CommandResult> {
    const [output, errors] = [createSink(), createSink()];
    const status = await runCli(args, {
      config: readCliConfig({ ...environment, ...env }),
      terminal: { stdin: Readable.from([stdin]), stdout: output.stream, stderr: errors.stream },
      signal: new AbortController().signal,
    });
    const [stdout, stderr] = [output.text(), errors.text()];
    texts.push(stdout, stderr);
    return { status, stdout, stderr };
  }

  return {
    run,
    runHere,
    async json(args, options) {
      const { status, stdout, stderr } = await runHere([...args, '--json'], options);
      if (status !== 0) throw new Error(`${args.join(' ')} ended with ${status}: ${stderr}`);
      return JSON.parse(stdout) as unknown;
    },
    start: (args) => open(args),
    printed: () => texts.join('\n'),
  };
}

/** The text that a stream has had so far. */
function collect(stream: Readable): () => string {
  let text = '';
  stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
  return () => text;
}

/** A stream that keeps what is written to it. */
function createSink() {
  let text = '';
  const stream = new Writable({
    write(chunk, _encoding, done) {
      text += String(chunk);
      done();
    },
  });
  return { stream, text: () => text };
}
