import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitUntil } from '@model-gateway/testkit';
import { page, startSite, type Route, type Site } from './site.ts';
import { endToolProcesses, initialize, processesWith, startToolProcess } from './tool-process.ts';

const NAVIGATIONS = 100;
const NAVIGATION_TIMEOUT_MS = 500;

const script = (source: string): string => page('Hostile', `<p>x</p><script>${source}</script>`);

/** What pages do that mean harm, or that are badly broken. */
const PAGES: Readonly<Record<string, Route>> = {
  '/loops': script('setTimeout(() => { for (;;); }, 50)'),
  '/dialogs': script('setTimeout(() => { for (let i = 0; i < 50; i += 1) alert(i) }, 10)'),
  '/leaving': script('onbeforeunload = (event) => event.preventDefault()'),
  '/popups': script('for (let i = 0; i < 50; i += 1) open("/history")'),
  '/console': script('setInterval(() => { for (let i = 0; i < 500; i += 1) console.log(i) }, 1)'),
  '/memory': script('globalThis.kept = Array.from({ length: 50 }, () => new Uint8Array(1e6))'),
  '/large': page('Large', '<div>'.repeat(20_000)),
  '/workers': script(
    'for (let i = 0; i < 8; i += 1) new Worker(URL.createObjectURL(new Blob(["for(;;);"])))',
  ),
  '/frames': page('Frames', '<iframe src="/loops"></iframe>'.repeat(10)),
  '/moves': script('setInterval(() => { location.href = "/moves?" + Math.random() }, 20)'),
  '/history': script('for (let i = 0; i < 500; i += 1) history.pushState(i, "", "?" + i)'),
  '/storage': script('for (let i = 0; i < 100; i += 1) localStorage[i] = "x".repeat(10000)'),
  '/around': (_request, response) => void response.writeHead(302, { location: '/around' }).end(),
  '/file': (_request, response) =>
    void response
      .writeHead(200, { 'content-disposition': 'attachment; filename="x.bin"' })
      .end('x'),
  '/nothing': (_request, response) => void response.writeHead(204).end(),
  '/cut': (request) => void request.socket.destroy(),
  '/never': () => undefined,
  '/half': (_request, response) =>
    void response.writeHead(200, { 'content-type': 'text/html' }).write('<title>Half</title>'),
};

let site: Site;
let folder: string;

beforeAll(async () => {
  site = await startSite(PAGES);
  folder = await mkdtemp(join(tmpdir(), 'hostile-'));
});
afterAll(async () => {
  endToolProcesses();
  await site.close();
  await rm(folder, { recursive: true, force: true });
});

test('a hundred navigations to hostile pages leave no process, profile or temporary file', async () => {
  const tool = startToolProcess({ args: ['mcp'], env: { TMPDIR: folder } });
  await initialize(tool);
  const call = (name: string, args: object) =>
    tool.request('tools/call', { name, arguments: args });
  const paths = Object.keys(PAGES);
  for (let index = 0; index < NAVIGATIONS; index += 1) {
    const url = `${site.url}${paths[index % paths.length] ?? ''}`;
    const { result } = await call('browser_navigate', { url, timeoutMs: NAVIGATION_TIMEOUT_MS });
    expect(result).toMatchObject({ content: expect.any(Array) });
  }
  tool.closeInput();
  expect(await tool.exited).toBe(0);
  await waitUntil(() => processesWith(folder).length === 0, { what: 'the end of the browser' });
  expect(await readdir(folder)).toEqual([]);
});
