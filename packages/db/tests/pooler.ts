import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '@model-gateway/kernel';
import { Client } from 'pg';

/** A PgBouncer in transaction mode. */
export interface Pooler {
  readonly url: string;
  close(): Promise<void>;
}

const PROGRAM = 'pgbouncer';
const ATTEMPTS_MAX = 600;

export const hasPooler = (): boolean =>
  (process.env['PATH'] ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, PROGRAM), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });

/** With few connections to the server, so that clients share them all the time. */
export async function startPooler(databaseUrl: string): Promise<Pooler> {
  const target = new URL(databaseUrl);
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), 'pooler-test-'));
  const file = join(folder, 'pgbouncer.ini');
  const password = decodeURIComponent(target.password);
  const server = [
    `host=${target.hostname}`,
    `port=${target.port}`,
    `user=${target.username}`,
    `password=${password}`,
  ];
  const lines = [
    '[databases]',
    `* = ${server.join(' ')}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = any',
    'pool_mode = transaction',
    'default_pool_size = 2',
    'max_client_conn = 100',
  ];
  await writeFile(file, `${lines.join('\n')}\n`);
  await chmod(folder, 0o755);
  // It does not run as root.
  const flags = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
  const child = spawn(PROGRAM, [...flags, file], { stdio: 'ignore' });
  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${port}`;
  await untilAnswered(url.href);
  return {
    url: url.href,
    async close() {
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function untilAnswered(url: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const client = new Client({ connectionString: url });
    try {
      await client.connect();
      await client.query('SELECT 1');
      return;
    } catch (error) {
      if (attempt === ATTEMPTS_MAX) throw error;
      await delay(100);
    } finally {
      await client.end().catch(() => undefined);
    }
  }
}
