// Starts the stores that all tests of a run share, in a process that runs from the sources.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { join } from 'node:path';

const MAIN = join(import.meta.dirname, '../src/stores/main.ts');

export default async function startStores() {
  const child = spawn(process.execPath, ['--conditions=model-gateway-source', MAIN], {
    stdio: ['pipe', 'pipe', 'inherit'],
    // Ctrl-C is for jest, which then closes standard input.
    detached: true,
  });
  const exited = once(child, 'exit');
  const [line] = await Promise.race([once(createInterface(child.stdout), 'line'), exited]);
  if (typeof line !== 'string') throw new Error('the stores of the tests did not start');
  Object.assign(process.env, JSON.parse(line));
  // A test says what its process is configured with; nothing of the developer's own settings may leak in.
  delete process.env.DATABASE_URL;
  delete process.env.REDIS_URL;
  globalThis.stopStores = async () => {
    child.stdin.end();
    await exited;
  };
}
