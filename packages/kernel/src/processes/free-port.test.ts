import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { freePort } from './free-port.ts';

const SOURCE = new URL('./free-port.ts', import.meta.url).href;

/** Another process, the port that it got, and its end. */
async function portOfProcess(preferred: number): Promise<{ port: number; child: ChildProcess }> {
  const program = `
    const { freePort } = await import('${SOURCE}');
    console.log(await freePort('127.0.0.1', ${preferred}));
    setInterval(() => {}, 1000);
  `;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  return { port: Number(line), child };
}

async function end(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  await once(child, 'exit');
}

test('a port that nothing listens on yet is given to no other process', async () => {
  const port = await freePort();
  const other = await portOfProcess(port);
  await end(other.child);
  expect(other.port).not.toBe(port);
});

test('a port is free again when the process that it was given to has ended', async () => {
  const other = await portOfProcess(0);
  expect(await freePort('127.0.0.1', other.port)).not.toBe(other.port);
  await end(other.child);
  expect(await freePort('127.0.0.1', other.port)).toBe(other.port);
});

test('the same process gets its own port again, unless something listens on it', async () => {
  const port = await freePort();
  expect(await freePort('127.0.0.1', port)).toBe(port);
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  expect(await freePort('127.0.0.1', port)).not.toBe(port);
  server.close();
});

test('one process never gets a port twice', async () => {
  const ports = await Promise.all(Array.from({ length: 200 }, () => freePort()));
  expect(new Set(ports).size).toBe(ports.length);
});
