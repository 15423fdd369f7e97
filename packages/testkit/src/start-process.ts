import { join } from 'node:path';
import {
  freePort,
  startGuarded,
  SYSTEM_ENVIRONMENT,
  type GuardedProcess,
} from '@model-gateway/kernel';
import { projectFolder } from './project-folder.ts';
import { watchEnvironment, watchText } from './secret-watch.ts';
import { waitUntil } from './wait-until.ts';

const READY_TIMEOUT_MS = 180_000;
/** As long as deployments wait before they kill a process. */
const STOP_GRACE_SECONDS = 60;
const KILLED_STATUS = 128 + 9;
const OUTPUT_LINES_MAX = 2_000;
/** A short-lived process would spend a fifth of its CPU time on optimizing WebAssembly that hardly runs. */
const CHEAP_START = ['--liftoff-only', '--wasm-lazy-compilation'];

interface ProcessOptions {
  /** The name of an app, whose build is run; or any script. */
  readonly app?: string;
  readonly script?: string;
  readonly args?: readonly string[];
  /** The whole environment beside PATH and the address; nothing is taken over from the test's own. */
  readonly env?: Readonly<Record<string, string>>;
  readonly port?: number;
  /** The path that responds with 200 once the process is ready; `null` for a process without a server. */
  readonly readyPath?: string | null;
  readonly readyTimeoutMs?: number;
  /** How long a stop may take. */
  readonly graceSeconds?: number;
}

/** A real process under test. It ends with the test's process, for any reason. */
export interface TestProcess {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** Settles with the exit status: 128 and more for a signal. */
  readonly exited: Promise<number>;
  /** What it wrote to standard output and standard error, its last 2000 lines. */
  output(): string;
  signal(name: NodeJS.Signals): void;
  /** Sends SIGTERM and waits for the end. Rejects when the process or a part of it did not stop by itself. */
  stop(): Promise<number>;
  /** Sends SIGKILL and waits for the end. */
  kill(): Promise<void>;
}

/** Starts a process on a free port and waits until it is ready. */
export async function startProcess(options: ProcessOptions): Promise<TestProcess> {
  const { graceSeconds = STOP_GRACE_SECONDS } = options;
  const port = options.port ?? (await freePort());
  const url = `http://127.0.0.1:${port}`;
  const lines: string[] = [];
  watchEnvironment(options.env ?? {});
  const child = startGuarded({
    command: [process.execPath, ...CHEAP_START, scriptOf(options), ...(options.args ?? [])],
    graceSeconds,
    environment: {
      ...SYSTEM_ENVIRONMENT,
      SERVICE_HOST: '127.0.0.1',
      SERVICE_PORT: String(port),
      ...options.env,
    },
    onLine: (line) => {
      watchText(`the output of ${options.app ?? 'a script'}`, line);
      lines.push(line);
      if (lines.length > OUTPUT_LINES_MAX) lines.shift();
    },
  });
  const output = (): string => lines.join('\n');
  await ready(options, url, child, output);
  const pid = await child.pid;
  return {
    url,
    port,
    pid,
    exited: child.exited,
    output,
    signal: (name) => {
      process.kill(pid, name);
    },
    async stop() {
      const stoppedAt = performance.now();
      await child.stop();
      const status = await child.exited;
      const seconds = (performance.now() - stoppedAt) / 1000;
      const isKilled = status === KILLED_STATUS && seconds >= graceSeconds;
      if (isKilled || output().includes('did not stop cleanly'))
        throw new Error(`the process did not stop in time; it wrote:\n${output()}`);
      return status;
    },
    async kill() {
      if (!sendSignal(pid, 'SIGKILL'))
        throw new Error(
          `the process had ended by itself with status ${await child.exited}; it wrote:\n${output()}`,
        );
      await child.exited;
    },
  };
}

/** Whether there was such a process. */
function sendSignal(pid: number, name: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, name);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return false;
    throw error;
  }
}

async function ready(
  { readyPath = '/readyz', readyTimeoutMs = READY_TIMEOUT_MS }: ProcessOptions,
  url: string,
  child: GuardedProcess,
  output: () => string,
): Promise<void> {
  if (readyPath === null) return;
  let status: number | undefined;
  void child.exited.then((ended) => {
    status = ended;
  });
  try {
    await waitUntil(
      async () => status !== undefined || (await fetch(`${url}${readyPath}`)).status === 200,
      {
        timeoutMs: readyTimeoutMs,
        what: `${url}${readyPath}`,
      },
    );
  } catch (error) {
    await child.stop();
    throw new Error(`the process did not get ready; it wrote:\n${output()}`, { cause: error });
  }
  if (status !== undefined)
    throw new Error(`the process ended with status ${status}; it wrote:\n${output()}`);
}

function scriptOf({ app, script }: ProcessOptions): string {
  if (script !== undefined) return script;
  if (app === undefined) throw new Error('name an app or a script to start');
  return join(projectFolder, 'apps', app, 'dist', 'main.js');
}
