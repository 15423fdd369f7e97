import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

const MAIN = join(import.meta.dirname, '..', 'dist', 'main.js');

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

/** Runs the built command line with one environment. */
export interface CommandLine {
  run(args: readonly string[], options?: RunOptions): Promise<CommandResult>;
  /** The parsed output of a command that succeeds. */
  json(args: readonly string[], options?: RunOptions): Promise<unknown>;
  /** Starts a command without waiting for its end. */
  start(args: readonly string[]): { readonly child: ChildProcess; readonly stdout: () => string };
  /** Everything that all commands printed. */
  printed(): string;
}

export function createCommandLine(environment: Readonly<Record<string, string>>): CommandLine {
  const texts: string[] = [];

  function open(args: readonly string[], { env }: RunOptions = {}) {
    const child = spawn(process.execPath, [MAIN, ...args], { env: { ...environment, ...env } });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    return { child, stdout: () => stdout, stderr: () => stderr };
  }

  async function run(args: readonly string[], options: RunOptions = {}): Promise<CommandResult> {
    const { child, stdout, stderr } = open(args, options);
    child.stdin.end(options.stdin ?? '');
    const [status] = (await once(child, 'close')) as [number | null];
    texts.push(stdout(), stderr());
    return { status, stdout: stdout(), stderr: stderr() };
  }

  return {
    run,
    async json(args, options) {
      const { status, stdout, stderr } = await run([...args, '--json'], options);
      if (status !== 0) throw new Error(`${args.join(' ')} ended with ${status}: ${stderr}`);
      return JSON.parse(stdout) as unknown;
    },
    start: (args) => open(args),
    printed: () => texts.join('\n'),
  };
}
