// A minimal MCP client over standard input and output, the same for all candidates.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

const ANSWER_TIMEOUT_MS = 60_000;

/** Starts a server and measures the time from the start of its process to the response of `initialize`. */
export async function connectStdio({ command, environment = {}, cwd }) {
  const start = performance.now();
  const child = spawn(command[0], command.slice(1), {
    cwd,
    env: { ...process.env, ...environment },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const waiting = new Map();
  let next = 1;
  createInterface({ input: child.stdout }).on('line', (line) => {
    const message = JSON.parse(line);
    waiting.get(message.id)?.(message);
  });
  child.stdin.on('error', () => undefined);
  const exited = new Promise((resolve) => child.once('exit', resolve));
  void exited.then(() => {
    for (const answer of waiting.values()) answer({ error: { message: 'the server ended' } });
  });
  const send = (message) =>
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const request = (method, params) =>
    new Promise((resolve, reject) => {
      const id = next++;
      const timer = setTimeout(
        () => reject(new Error(`no answer to ${method}`)),
        ANSWER_TIMEOUT_MS,
      );
      waiting.set(id, (message) => {
        clearTimeout(timer);
        waiting.delete(id);
        if (message.error === undefined) resolve(message.result);
        else reject(new Error(`${method}: ${message.error.message}`));
      });
      send({ id, method, params });
    });
  await request('initialize', {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'bench', version: '1' },
  });
  const initializeMs = performance.now() - start;
  send({ method: 'notifications/initialized' });
  return {
    initializeMs,
    pid: child.pid,
    exited,
    listTools: () => request('tools/list', {}),
    call: (name, args) => request('tools/call', { name, arguments: args }),
    closeInput: () => child.stdin.end(),
    kill: () => child.kill('SIGKILL'),
  };
}
