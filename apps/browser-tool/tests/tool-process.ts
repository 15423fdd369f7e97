import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { waitUntil } from '@model-gateway/testkit';
import { testBrowser } from './test-browser.ts';

const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url));
const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** The tool as its users start it, spoken to by hand. */
export interface ToolProcess {
  readonly pid: number;
  readonly exited: Promise<number>;
  readonly stdout: string[];
  readonly stderr: string[];
  /** Sends a JSON-RPC request and waits for its answer. */
  request(method: string, params?: object): Promise<Record<string, unknown>>;
  notify(method: string): void;
  write(text: string): void;
  closeInput(): void;
  signal(name: NodeJS.Signals): void;
}

interface StartOptions {
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Through the package runner, as the documentation says. */
  readonly viaRunner?: boolean;
  /** Whether the browser is the one that the tool finds, instead of that of the tests. */
  readonly findsBrowser?: boolean;
}

// A browser takes its time on a machine that is busy.
const ANSWER_TIMEOUT_MS = 180_000;

const running = new Set<number>();

/** Ends what a failed test left behind. */
export function endToolProcesses(): void {
  for (const pid of running) process.kill(pid, 'SIGKILL');
}

/** Starts the build. */
export function startToolProcess({
  args,
  env = {},
  viaRunner = false,
  findsBrowser = false,
}: StartOptions): ToolProcess {
  const [command, ...rest] = viaRunner
    ? ['pnpm', '--filter', 'browser-tool', 'start', ...args]
    : [process.execPath, MAIN, ...args];
  const { PATH = '', HOME = '', TMPDIR } = process.env;
  const child = spawn(command ?? '', rest, {
    cwd: ROOT,
    env: {
      PATH,
      HOME,
      ...(TMPDIR === undefined ? {} : { TMPDIR }),
      BROWSER_SKIP_BROWSER_FETCH: '1',
      ...(findsBrowser ? {} : testBrowser()),
      ...env,
    },
  });
  const stdout: string[] = [];
  const stderr: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => stdout.push(line));
  createInterface({ input: child.stderr }).on('line', (line) => stderr.push(line));
  child.stdin.on('error', () => undefined);
  const { pid } = child;
  // Otherwise the signals below would go to the process group of the tests.
  if (pid === undefined) throw new Error(`${command} cannot be started`);
  running.add(pid);
  const exited = new Promise<number>((resolve) => {
    child.once('exit', (code, signal) => {
      running.delete(pid);
      resolve(code ?? (signal === null ? -1 : -2));
    });
  });
  let next = 1;
  const write = (text: string): void => void child.stdin.write(text);
  return {
    pid,
    exited,
    stdout,
    stderr,
    write,
    async request(method, params = {}) {
      const id = next++;
      write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
      const answer = (): Record<string, unknown> | undefined =>
        stdout
          .map((line) => JSON.parse(line) as Record<string, unknown>)
          .find((message) => message['id'] === id);
      await waitUntil(() => answer() !== undefined, {
        timeoutMs: ANSWER_TIMEOUT_MS,
        what: `an answer to ${method}`,
      });
      return answer() ?? {};
    },
    notify: (method) => write(`${JSON.stringify({ jsonrpc: '2.0', method })}\n`),
    closeInput: () => child.stdin.end(),
    signal: (name) => void process.kill(pid, name),
  };
}

/** The first messages of every MCP client. */
export async function initialize(tool: ToolProcess): Promise<Record<string, unknown>> {
  const answer = await tool.request('initialize', {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'by hand', version: '1' },
  });
  tool.notify('notifications/initialized');
  return answer;
}

/** The running processes whose command line holds a text; those that only wait to be buried do not count. */
export function processesWith(text: string): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        return readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(text);
      } catch {
        return false;
      }
    })
    .map(Number);
}

/** The profile folder of the browser below a process. */
export async function profileOf(pid: number): Promise<string> {
  let profile: string | undefined;
  await waitUntil(
    () => {
      // Its own children name the folder too, in a form of their own, and may have lower numbers.
      const children = processesWith('--type=');
      const browser = processesWith('--user-data-dir=').find(
        (each) => !children.includes(each) && isBelow(each, pid),
      );
      const line = browser === undefined ? '' : readFileSync(`/proc/${browser}/cmdline`, 'utf8');
      profile = /--user-data-dir=([^\0]+)/.exec(line)?.[1];
      return profile !== undefined && existsSync(profile);
    },
    { what: 'a browser', timeoutMs: ANSWER_TIMEOUT_MS },
  );
  return profile ?? '';
}

/** The browser that runs on a profile; not one of its own children, nor who watches over it. */
export function browserWith(profile: string): number {
  const children = processesWith('--type=');
  const browser = processesWith(`--user-data-dir=${profile}`).find(
    (pid) => !children.includes(pid),
  );
  if (browser === undefined) throw new Error(`no browser runs on ${profile}`);
  return browser;
}

/** Whether a process was started by another, or by one that it started. */
export function isBelow(pid: number, ancestor: number): boolean {
  for (let current = pid; current > 1;) {
    if (current === ancestor) return true;
    try {
      const [, parent] =
        / [A-Za-z] (\d+) /.exec(readFileSync(`/proc/${current}/stat`, 'utf8')) ?? [];
      current = Number(parent ?? 0);
    } catch {
      return false;
    }
  }
  return false;
}
