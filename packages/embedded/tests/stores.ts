import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';

/** A new data directory, and how to remove it. */
export async function newDataDir(): Promise<{ readonly path: string; remove(): Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'embedded-'));
  await chmod(path, 0o711);
  return { path, remove: () => rm(path, { recursive: true, force: true, maxRetries: 5 }) };
}

/** Runs statements on a new connection and returns the rows of the last one. */
export async function query(
  url: string,
  ...statements: readonly string[]
): Promise<readonly unknown[]> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    let rows: readonly unknown[] = [];
    for (const statement of statements) rows = (await client.query(statement)).rows;
    return rows;
  } finally {
    await client.end();
  }
}

interface Store {
  readonly url: string;
  readonly pid: number;
}

/** Starts both stores in a process that can be killed. */
export async function holdStores(dataDir: string): Promise<{
  readonly postgres: Store;
  readonly redis: Store;
  readonly pid: number;
  kill(): Promise<void>;
}> {
  const script = fileURLToPath(new URL('hold-stores.mjs', import.meta.url));
  const holder = spawn(process.execPath, [script, dataDir], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(holder, 'exit');
  for await (const line of createInterface({ input: holder.stdout })) {
    const { postgres, redis }: { postgres: Store; redis: Store } = JSON.parse(line);
    return {
      postgres,
      redis,
      pid: holder.pid ?? 0,
      async kill() {
        holder.kill('SIGKILL');
        await exited;
      },
    };
  }
  throw new Error('the holder did not start its stores');
}

/** The id of a zombie process. */
export async function zombieProcess(): Promise<{
  readonly pid: number;
  readonly end: () => void;
}> {
  const parent = spawn('/bin/sh', ['-c', 'true & echo $!; exec sleep 60'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  for await (const line of createInterface({ input: parent.stdout })) {
    return { pid: Number(line), end: () => void parent.kill('SIGKILL') };
  }
  throw new Error('no process id was written');
}

/** Whether a process with this id runs. */
export function runs(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Waits for a condition by polling. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  timeoutMs = 60_000,
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!(await condition())) {
    if (performance.now() > deadline)
      throw new Error(`the condition was not met within ${timeoutMs} ms`);
    await sleep(50);
  }
}

/** Whether a file or folder exists. */
export const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
