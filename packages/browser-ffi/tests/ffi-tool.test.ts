import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  freePort,
  fullTable,
  startProcess,
  waitUntil,
  type TestProcess,
} from '@model-gateway/testkit';
import { startBrowserBehind, type BrowserBehind } from './browser-behind.ts';
import { createEngineLibraries, type EngineLibraries } from './engine-library.ts';

const PAGE = 'data:text/html,<title>Here</title><button onclick="document.title=1">Go</button>';
const HANG_MS = 500;

let libraries: EngineLibraries;
let library: string;
let behind: BrowserBehind;
let folder: string;
let tool: TestProcess | undefined;

beforeAll(async () => {
  libraries = await createEngineLibraries();
  library = await libraries.build();
  behind = await startBrowserBehind();
});

afterAll(async () => {
  await behind.close();
  await libraries.remove();
});

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ffi-tool-'));
});

afterEach(async () => {
  if (tool !== undefined && isRunning(tool.pid)) await tool.kill();
  tool = undefined;
  await rm(folder, { recursive: true, force: true });
});

async function start(environment: Readonly<Record<string, string>> = {}): Promise<TestProcess> {
  const port = await freePort();
  tool = await startProcess({
    app: 'browser-tool',
    args: ['debug', '--port', String(port), '--proxy', behind.url],
    env: {
      TMPDIR: folder,
      BROWSER_BACKEND: 'servo',
      BROWSER_SERVO_ENGINE: library,
      ...environment,
    },
    port,
    readyPath: '/health',
  });
  return tool;
}

async function post(path: string, body: object): Promise<Record<string, unknown>> {
  const response = await fetch(`${tool?.url}${path}`, {
    method: 'POST',
    body: JSON.stringify(body),
  });
  return { http: response.status, ...((await response.json()) as object) };
}

async function info(): Promise<{ readonly browser_pid: number }> {
  const response = await fetch(`${tool?.url}/info`);
  const { data } = (await response.json()) as { data: { browser_pid: number } };
  return data;
}

const profiles = async () =>
  (await readdir(folder)).filter((name) => name.startsWith('browser-tool-profile-'));

test('the whole tool works on a foreign engine', async () => {
  await start();
  expect(await post('/navigate', { url: PAGE })).toMatchObject({
    ok: true,
    data: { title: 'Here' },
  });
  expect(await post('/click', { target: 'text=Go' })).toMatchObject({
    ok: true,
    data: { title: '1' },
  });
  expect(await info()).toMatchObject({
    backend: 'servo',
    backend_requested: 'servo',
    protocol: 'ffi',
    resolved_by: 'override',
    browser_connected: true,
  });
});

test('a hung engine is a time-out, and the next call has a new one', async () => {
  await start();
  await post('/navigate', { url: PAGE });
  const { browser_pid: first } = await info();
  expect(await post('/navigate', { url: 'http://hang/', timeout_ms: HANG_MS })).toMatchObject({
    http: 504,
    code: 'TIMEOUT',
  });
  expect(await post('/navigate', { url: PAGE })).toMatchObject({
    http: 200,
    data: { title: 'Here', restarted: true },
  });
  expect((await info()).browser_pid).not.toBe(first);
  await waitUntil(async () => (await profiles()).length === 1);
});

test('what the library prints goes to standard error, never to standard output', async () => {
  const main = fileURLToPath(new URL('../../../apps/browser-tool/dist/main.js', import.meta.url));
  const child = spawn(process.execPath, [main, 'debug', '--port', '0', '--proxy', behind.url], {
    env: { TMPDIR: folder, BROWSER_BACKEND: 'servo', BROWSER_SERVO_ENGINE: library },
  });
  let printed = '';
  let complained = '';
  child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (complained += chunk.toString()));
  await waitUntil(() => printed.includes('\n'));
  const url = /http:\S+/.exec(printed)?.[0];
  await fetch(`${url}/navigate`, {
    method: 'POST',
    body: JSON.stringify({ url: 'http://print/' }),
  });
  await waitUntil(() => complained.includes('words on standard output'));
  child.kill('SIGTERM');
  await once(child, 'close');
  expect(printed).toBe(`browser-tool listens on ${url}\n`);
});

test.each(fullTable(['SIGKILL', 'SIGTERM'] as const, { small: 1 }))(
  'after %s neither a process nor a profile is left',
  async (signal) => {
    await start();
    await post('/navigate', { url: PAGE });
    const { browser_pid: host } = await info();
    const hanging = post('/navigate', { url: 'http://hang/' }).catch(() => undefined);
    tool?.signal(signal);
    await tool?.exited;
    await hanging;
    await waitUntil(() => !isRunning(host));
    await waitUntil(async () => (await profiles()).length === 0);
  },
);

test('a missing library is reported on the first call, and the server keeps running', async () => {
  await start({ BROWSER_SERVO_ENGINE: '/nowhere/libx.so' });
  expect(await post('/navigate', { url: PAGE })).toMatchObject({
    http: 503,
    code: 'ENGINE_LIB_NOT_FOUND',
    error: expect.stringContaining(
      'BROWSER_SERVO_ENGINE is set to /nowhere/libx.so, which is not a file.',
    ),
  });
});

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
