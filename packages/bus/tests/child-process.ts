import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** Another process with a bus of its own. */
export interface ChildProcess {
  /** The next line that the child reports. */
  nextLine(): Promise<string>;
  kill(): Promise<void>;
  /** The exit code, when the child ends by itself. */
  exited(): Promise<unknown>;
}

interface ChildOptions {
  readonly redisUrl?: string;
  readonly dataDir: string;
  readonly prefix: string;
}

// It runs the build, as every process of a test does.
const PROGRAM = fileURLToPath(new URL('child/bus-process.mjs', import.meta.url));

export function startChild(
  command: 'take and hang' | 'append and wait' | 'use and close',
  options: ChildOptions,
): ChildProcess {
  const child = spawn(process.execPath, [PROGRAM, command, JSON.stringify(options)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const exit = once(child, 'exit');
  return {
    async nextLine() {
      const line = await lines.next();
      return line.done === true ? 'the child has ended' : line.value;
    },
    async kill() {
      child.kill('SIGKILL');
      await exit;
    },
    async exited() {
      const [code]: unknown[] = await exit;
      return code;
    },
  };
}
