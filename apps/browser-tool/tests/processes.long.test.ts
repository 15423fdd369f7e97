import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readlink, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fullTable, waitUntil } from '@model-gateway/testkit';
import {
  browserWith,
  endToolProcesses,
  initialize,
  processesWith,
  profileOf,
  startToolProcess,
  type ToolProcess,
} from './tool-process.ts';

afterEach(endToolProcesses);

async function callTool(
  tool: ToolProcess,
  name: string,
  args: object = {},
): Promise<Record<string, never>> {
  const { result } = await tool.request('tools/call', { name, arguments: args });
  return result as Record<string, never>;
}

async function expectNothingLeft(profile: string): Promise<void> {
  await waitUntil(() => processesWith(profile).length === 0 && !existsSync(profile), {
    what: 'the end of the browser and its profile',
  });
}

/** Nothing that a killed tool leaves has a process; its files are removed by the next tool that starts a browser. */
async function expectSwept(profile: string, env: Readonly<Record<string, string>> = {}) {
  await waitUntil(() => processesWith(profile).length === 0, { what: 'the end of the browser' });
  const next = startToolProcess({ args: ['mcp'], env, findsBrowser: true });
  await initialize(next);
  await waitUntil(() => !existsSync(profile), { what: 'the end of the profile' });
  next.closeInput();
  await next.exited;
}

const KILLED = -2;

/** Nothing of a tool is left: at once where it could clean up, otherwise after the next start. */
const expectGone = (code: number, profile: string, env = {}): Promise<void> =>
  code === KILLED ? expectSwept(profile, env) : expectNothingLeft(profile);

async function expectExit(tool: ToolProcess, end: () => void): Promise<number> {
  end();
  return tool.exited;
}

describe('the MCP server', () => {
  const sigkill = { how: 'SIGKILL', end: (tool: ToolProcess) => tool.signal('SIGKILL'), code: -2 };
  const sigterm = { how: 'SIGTERM', end: (tool: ToolProcess) => tool.signal('SIGTERM'), code: 0 };
  const otherEnds = [
    { how: 'closed input', end: (tool: ToolProcess) => tool.closeInput(), code: 0 },
    { how: 'SIGINT', end: (tool: ToolProcess) => tool.signal('SIGINT'), code: 0 },
    { how: 'SIGHUP', end: (tool: ToolProcess) => tool.signal('SIGHUP'), code: 0 },
  ];
  const LONG = 120;
  const SHORT = 40;
  const ends = [
    { ...sigterm, chars: LONG },
    { ...sigkill, chars: SHORT },
    ...otherEnds.map((end) => ({ ...end, chars: SHORT })),
    { ...sigterm, chars: SHORT },
    { ...sigkill, chars: LONG },
  ];
  const usualEnds = fullTable([sigkill, sigterm, ...otherEnds], { small: 2 });

  test.each(fullTable(ends, { small: 2 }))(
    'after $how no browser, file or socket is left where temporary files have a path of $chars characters',
    async ({ end, code, chars }) => {
      // Not below the folder of the tests: sockets have short paths.
      const folder = await mkdtemp('/tmp/bt-');
      const long = join(folder, 'x'.repeat(chars - folder.length - 1));
      await mkdir(long);
      const tool = startToolProcess({ args: ['mcp'], env: { TMPDIR: long }, findsBrowser: true });
      await initialize(tool);
      await callTool(tool, 'browser_navigate', { url: 'about:blank' });
      const profile = await profileOf(tool.pid);
      const socket = await readlink(join(profile, 'SingletonSocket'));
      expect(existsSync(socket)).toBe(true);
      expect(await expectExit(tool, () => end(tool))).toBe(code);
      await expectGone(code, profile, { TMPDIR: long });
      await waitUntil(
        async () => !existsSync(dirname(socket)) && (await readdir(long)).length === 0,
        {
          what: 'the end of the socket',
        },
      );
      await rm(folder, { recursive: true });
    },
  );

  test.each(usualEnds)('after $how while the browser is still starting, too', async (given) => {
    const tool = startToolProcess({ args: ['mcp'] });
    await initialize(tool);
    const profile = await profileOf(tool.pid);
    await expectExit(tool, () => given.end(tool));
    await expectGone(given.code, profile);
  });

  test('writes nothing but JSON-RPC, removes a crashed browser at once, and ends when the client disconnects during a call', async () => {
    const tool = startToolProcess({ args: ['mcp'], env: { BROWSER_LOG_LEVEL: 'debug' } });
    await initialize(tool);
    await callTool(tool, 'browser_navigate', {
      url: 'data:text/html,<script>console.log(1)</script>',
    });
    await callTool(tool, 'browser_navigate', { url: 'http://127.0.0.1:1/' });
    tool.write('this is no JSON\n');
    await tool.request('no/such/method');
    await callTool(tool, 'browser_evaluate', { function: '() => { throw new Error("x") }' });
    const crashed = await profileOf(tool.pid);
    process.kill(browserWith(crashed), 'SIGKILL');
    await expectNothingLeft(crashed);
    await callTool(tool, 'browser_snapshot');
    const profile = await profileOf(tool.pid);
    tool.write(
      `${JSON.stringify({ jsonrpc: '2.0', id: 99, method: 'tools/call', params: { name: 'browser_click', arguments: { target: '#never' } } })}\n`,
    );
    expect(await expectExit(tool, () => tool.closeInput())).toBe(0);
    await expectNothingLeft(profile);
    expect(tool.stdout.length).toBeGreaterThan(5);
    for (const line of tool.stdout) expect(JSON.parse(line)).toMatchObject({ jsonrpc: '2.0' });
  });

  test('handles initialize and tools/list without a browser, reports on a call what is missing, and deletes the profiles of processes that have ended', async () => {
    const stale = await mkdtemp(join(tmpdir(), 'browser-tool-profile-'));
    await writeFile(join(stale, 'owner.pid'), '4194000');
    await mkdir(join(stale, 'Default'));
    const other = await mkdtemp(join(tmpdir(), 'browser-tool-profile-'));
    await writeFile(join(other, 'owner.pid'), String(process.pid));
    const tool = startToolProcess({ args: ['mcp'], env: { CHROMIUM_PATH: '/no/such/browser' } });
    expect(await initialize(tool)).toMatchObject({
      result: { serverInfo: { name: 'browser-tool' }, capabilities: { tools: {} } },
    });
    const { result } = await tool.request('tools/list');
    expect((result as { tools: unknown[] }).tools).toHaveLength(12);
    expect(await callTool(tool, 'browser_snapshot')).toMatchObject({
      isError: true,
      structuredContent: { ok: false, code: 'BROWSER_NOT_FOUND' },
    });
    await waitUntil(() => !existsSync(stale));
    expect(existsSync(other)).toBe(true);
    tool.closeInput();
    expect(await tool.exited).toBe(0);
    await rm(other, { recursive: true });
  });

  test('starts with a backend that does not exist, and reports it on the first call', async () => {
    const tool = startToolProcess({ args: ['mcp'], env: { BROWSER_BACKEND: 'lynx' } });
    await initialize(tool);
    const answer = await callTool(tool, 'browser_snapshot');
    expect(answer).toMatchObject({ isError: true, structuredContent: { code: 'INVALID_BACKEND' } });
    expect(JSON.stringify(answer)).toContain('auto, chrome, chromium, edge, firefox, servo');
    tool.closeInput();
    expect(await tool.exited).toBe(0);
  });

  test('starts with invalid settings, and reports them on the first call', async () => {
    const tool = startToolProcess({
      args: ['mcp'],
      env: { BROWSER_ALLOWED_ORIGINS: 'everywhere' },
    });
    await initialize(tool);
    const answer = await callTool(tool, 'browser_snapshot');
    expect(answer).toMatchObject({
      isError: true,
      content: [{ text: expect.stringMatching(/^INVALID_ARGUMENT: invalid configuration: /) }],
    });
    tool.closeInput();
    expect(await tool.exited).toBe(0);
  });

  test('runs through the package runner, and ends with it', async () => {
    const tool = startToolProcess({ args: ['mcp'], viaRunner: true });
    await initialize(tool);
    await callTool(tool, 'browser_navigate', { url: 'about:blank' });
    const profile = await profileOf(tool.pid);
    for (const line of tool.stdout) expect(JSON.parse(line)).toMatchObject({ jsonrpc: '2.0' });
    tool.signal('SIGKILL');
    await tool.exited;
    await expectNothingLeft(profile);
  });
});

describe('the debug server', () => {
  const urlOf = async (tool: ToolProcess): Promise<string> => {
    await waitUntil(() => tool.stdout.some((line) => line.includes('http://')));
    return /http:\/\/\S+/.exec(tool.stdout.join('\n'))?.[0] ?? '';
  };

  test.each(fullTable(['SIGINT', 'SIGKILL', 'SIGTERM', 'SIGHUP'] as const, { small: 1 }))(
    'after %s nothing is left',
    async (signal) => {
      const tool = startToolProcess({ args: ['debug', '--port', '0'] });
      const url = await urlOf(tool);
      const { data } = (await (await fetch(`${url}/info`)).json()) as {
        data: { browser_connected: boolean };
      };
      expect(data.browser_connected).toBe(true);
      const profile = await profileOf(tool.pid);
      await expectGone(await expectExit(tool, () => tool.signal(signal)), profile);
    },
  );

  test('off loopback it wants a token and its own names', async () => {
    const refused = startToolProcess({ args: ['debug', '--port', '0', '--host', '0.0.0.0'] });
    expect(await refused.exited).toBe(1);
    expect(refused.stderr.join('\n')).toContain('BROWSER_TOKEN and BROWSER_ALLOWED_HOSTS');
    const env = {
      BROWSER_TOKEN: 'let-me-in',
      BROWSER_ALLOWED_HOSTS: 'browser.internal',
      BROWSER_BACKEND: 'edge',
    };
    const tool = startToolProcess({ args: ['debug', '--port', '0', '--host', '0.0.0.0'], env });
    const { port } = new URL(await urlOf(tool));
    const health = async (headers: Record<string, string>): Promise<number> =>
      (await fetch(`http://127.0.0.1:${port}/health`, { headers })).status;
    expect(await health({})).toBe(401);
    expect(await health({ authorization: 'Bearer wrong' })).toBe(401);
    expect(await health({ authorization: 'Bearer let-me-in' })).toBe(200);
    tool.signal('SIGTERM');
    expect(await tool.exited).toBe(0);
  });

  test('a port in use is reported', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    const tool = startToolProcess({ args: ['debug', '--port', String(port)] });
    const code = await tool.exited;
    server.close();
    expect(code).toBe(1);
    expect(tool.stderr.join('\n')).toContain(`cannot listen on 127.0.0.1:${port}`);
  });

  test('a backend that does not exist keeps it from starting', async () => {
    const tool = startToolProcess({
      args: ['debug', '--port', '0'],
      env: { BROWSER_BACKEND: 'lynx' },
    });
    expect(await tool.exited).toBe(1);
    expect(tool.stderr.join('\n')).toMatch(
      /INVALID_BACKEND: .*"lynx".*auto, chrome, chromium, edge, firefox, servo/,
    );
  });
});

describe('the command line', () => {
  test.each([
    { args: ['--help'], code: 0, out: /^Usage: browser-tool <command>/ },
    { args: ['--version'], code: 0, out: /^\d+\.\d+\.\d+$/m },
    { args: ['dance'], code: 2, err: /unknown command "dance"/ },
  ])('$args', async ({ args, code, out = /^$/, err = /^$/ }) => {
    const tool = startToolProcess({ args });
    expect(await tool.exited).toBe(code);
    expect(tool.stdout.join('\n')).toMatch(out);
    expect(tool.stderr.join('\n')).toMatch(err);
  });
});
