// A small MCP client over standard input and output, the same for all candidates.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

const ANSWER_TIMEOUT_MS = 60_000;

export interface ToolResult {
  readonly content: readonly { readonly text?: string }[];
  readonly isError?: boolean;
}

export interface McpClient {
  /** From the start of the process to the answer to `initialize`. */
  readonly initializeMs: number;
  readonly pid: number;
  listTools(): Promise<{ readonly tools: readonly unknown[] }>;
  call(name: string, args: object): Promise<ToolResult>;
  closeInput(): void;
  kill(): void;
}

interface Message {
  readonly id?: number;
  readonly result?: unknown;
  readonly error?: { readonly message: string };
}

interface Server {
  readonly command: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly cwd: string;
}

export async function connectStdio({ command, environment, cwd }: Server): Promise<McpClient> {
  const startedAt = performance.now();
  const [program = '', ...args] = command;
  const child = spawn(program, args, {
    cwd,
    env: { ...process.env, ...environment },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const waiting = new Map<number, (message: Message) => void>();
  let last = 0;
  createInterface({ input: child.stdout }).on('line', (line) => {
    const message = JSON.parse(line) as Message;
    waiting.get(message.id ?? 0)?.(message);
  });
  child.stdin.on('error', () => undefined);
  child.once('exit', () => {
    for (const answer of waiting.values()) answer({ error: { message: 'the server ended' } });
  });
  const send = (message: object): void =>
    void child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const request = <Result>(method: string, params: object): Promise<Result> =>
    new Promise((resolve, reject) => {
      const id = (last += 1);
      const fail = (why: string): void => reject(new Error(`${method}: ${why}`));
      const timer = setTimeout(() => fail('no answer'), ANSWER_TIMEOUT_MS);
      waiting.set(id, ({ result, error }) => {
        clearTimeout(timer);
        waiting.delete(id);
        if (error === undefined) resolve(result as Result);
        else fail(error.message);
      });
      send({ id, method, params });
    });
  await request('initialize', {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'bench', version: '1' },
  });
  const initializeMs = performance.now() - startedAt;
  send({ method: 'notifications/initialized' });
  return {
    initializeMs,
    pid: child.pid ?? 0,
    listTools: () => request('tools/list', {}),
    call: (name, given) => request('tools/call', { name, arguments: given }),
    closeInput: () => child.stdin.end(),
    kill: () => void child.kill('SIGKILL'),
  };
}
