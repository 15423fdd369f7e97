import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { createCommandLine, type CommandLine } from './command-line.ts';

const HOLDER = join(import.meta.dirname, 'child', 'data-dir-holder.mjs');
const TOKEN = 'admin-token-of-the-data-directory';

let folder = '';
let dataDir = '';
let holder: ChildProcess;
let lines: AsyncIterableIterator<string>;
let port = 0;
let gateway: CommandLine;
/** The listeners of another user. */
const foreign: Server[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'found-token-'));
  dataDir = join(folder, '.data');
  await mkdir(join(dataDir, 'secrets'), { recursive: true });
  await writeFile(join(dataDir, 'secrets', 'admin-token'), `${TOKEN}\n`);
  holder = spawn(process.execPath, [HOLDER, dataDir], { stdio: ['ignore', 'pipe', 'inherit'] });
  if (holder.stdout === null) throw new Error('the holder has no output');
  const reader: Interface = createInterface({ input: holder.stdout });
  lines = reader[Symbol.asyncIterator]();
  port = Number(await nextLine());
  gateway = createCommandLine({ HOME: folder, SERVICE_DATA_DIR: dataDir });
});
afterEach(async () => {
  await killHolder();
  for (const server of foreign.splice(0)) {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  }
  await rm(folder, { recursive: true });
});

const nextLine = async (): Promise<string> => String((await lines.next()).value);

async function killHolder(): Promise<void> {
  if (holder.exitCode !== null || holder.signalCode !== null) return;
  holder.kill('SIGKILL');
  await once(holder, 'exit');
}

/** Listens as another user would; returns the requests that arrive. Undefined where the machine lacks the address. */
async function listenAsForeigner(host: string): Promise<readonly string[] | undefined> {
  const received: string[] = [];
  const server = createServer((request, response) => {
    received.push(request.headers.authorization ?? 'no token');
    response.statusCode = 401;
    response.end();
  });
  server.listen(port, host);
  const isThere = await Promise.race([
    once(server, 'listening').then(() => true),
    once(server, 'error').then(() => false),
  ]);
  if (isThere) foreign.push(server);
  return isThere ? received : undefined;
}

const list = (url: string, env: Readonly<Record<string, string>> = {}) =>
  gateway.runHere(['backends', 'list', '--url', url], { env });

test('the service that holds the data directory gets its token, by number and by name', async () => {
  for (const host of ['127.0.0.1', 'localhost']) {
    expect(await list(`http://${host}:${port}`)).toMatchObject({ status: 0 });
    expect(await nextLine()).toBe(`Bearer ${TOKEN}`);
  }
});

test('after the service was killed, another listener on its port gets no token', async () => {
  await killHolder();
  const received = await listenAsForeigner('127.0.0.1');
  for (const host of ['127.0.0.1', 'localhost']) {
    const refused = await list(`http://${host}:${port}`);
    expect(refused).toMatchObject({ status: 3 });
    expect(refused.stderr).toContain('needs the admin token');
    await gateway.runHere(['users', 'list', '--url', `http://${host}:${port}`]);
    await gateway.runHere(['doctor', '--url', `http://${host}:${port}`]);
  }
  expect(new Set(received)).toEqual(new Set(['no token']));
});

test('a listener on another address or port gets no token', async () => {
  const received = await listenAsForeigner('::1');
  for (const url of [`http://[::1]:${port}`, `https://127.0.0.1:${port}`, 'http://127.0.0.1:9'])
    expect(await list(url)).toMatchObject({ status: 3 });
  expect(await list(`http://localhost:${port}`)).toMatchObject({ status: 0 });
  expect(received ?? []).toEqual([]);
});

test('a token that the user gives goes where the user says', async () => {
  await killHolder();
  const received = await listenAsForeigner('127.0.0.1');
  await list(`http://127.0.0.1:${port}`, { GATEWAY_ADMIN_TOKEN: 'given' });
  expect(received).toEqual(['Bearer given']);
});
