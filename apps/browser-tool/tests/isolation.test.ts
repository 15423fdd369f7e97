import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { waitUntil } from '@model-gateway/testkit';
import {
  endToolProcesses,
  initialize,
  isBelow,
  profileOf,
  startToolProcess,
  type ToolProcess,
} from './tool-process.ts';

const SECRETS = {
  OPENAI_API_KEY: 'sk-user-secret-4711',
  BROWSER_ALLOWED_HOSTS: 'setting-of-the-tool-4712',
};
const LISTENING = '0A';
const NO_SANDBOX = 'it runs without its sandbox';

afterEach(endToolProcesses);

/** All processes that a process started, directly or not. */
function processesBelow(pid: number): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((each) => each !== pid && isBelow(each, pid));
}

/** The text of a file of a process; empty once it has ended. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** The inodes of all sockets that listen on TCP. */
function listeningSockets(): ReadonlySet<string> {
  const rows = ['/proc/net/tcp', '/proc/net/tcp6'].flatMap((path) => read(path).split('\n'));
  const fields = rows.map((row) => row.trim().split(/\s+/));
  return new Set(fields.filter((row) => row[3] === LISTENING).map((row) => row[9] ?? ''));
}

function socketsOf(pid: number): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      const [, inode] = /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`)) ?? [];
      return inode ?? [];
    });
  } catch {
    return [];
  }
}

async function expectIsolated(tool: ToolProcess, browsers: number): Promise<void> {
  const below = processesBelow(tool.pid);
  const mains = below.filter((pid) => {
    const line = read(`/proc/${pid}/cmdline`);
    return line.includes('--remote-debugging-pipe') && !line.includes('--type=');
  });
  expect(mains).toHaveLength(browsers);
  const listening = listeningSockets();
  for (const pid of below) {
    expect(socketsOf(pid).filter((inode) => listening.has(inode))).toEqual([]);
    expect(read(`/proc/${pid}/cmdline`)).not.toContain('--remote-debugging-port');
    for (const secret of Object.values(SECRETS)) {
      expect(read(`/proc/${pid}/environ`)).not.toContain(secret);
    }
  }
  expect(readdirSync(await profileOf(tool.pid))).not.toContain('DevToolsActivePort');
}

const OPEN = { name: 'browser_navigate', arguments: { url: 'data:text/html,<title>Open</title>' } };

test('the browser of mcp listens on no port and has no secrets', async () => {
  const tool = startToolProcess({ args: ['mcp'], env: SECRETS });
  await initialize(tool);
  const { result } = await tool.request('tools/call', OPEN);
  expect(result).toMatchObject({ structuredContent: { title: 'Open' } });
  await expectIsolated(tool, 1);
  // Only the first result says it; Chromium has no sandbox as root.
  const later = await tool.request('tools/call', OPEN);
  const isRoot = process.getuid?.() === 0;
  const said = [result, later['result']].map((each) => JSON.stringify(each).includes(NO_SANDBOX));
  expect(said).toEqual([isRoot, false]);
});

/** Waits for the URL that a server prints. */
async function urlOf(tool: ToolProcess): Promise<string> {
  const printed = (): string | undefined =>
    /http:\/\/\S+/.exec([...tool.stderr, ...tool.stdout].join('\n'))?.[0];
  await waitUntil(() => printed() !== undefined, { timeoutMs: 60_000 });
  return printed() ?? '';
}

test('the browser of debug listens on no port and has no secrets', async () => {
  const env = { ...SECRETS, BROWSER_TOKEN: 'token-4713' };
  const tool = startToolProcess({ args: ['debug', '--port', '0'], env });
  const answer = await fetch(`${await urlOf(tool)}/navigate`, {
    method: 'POST',
    headers: { authorization: 'Bearer token-4713' },
    body: JSON.stringify(OPEN.arguments),
  });
  expect(await answer.json()).toMatchObject({ ok: true });
  await expectIsolated(tool, 1);
  for (const pid of processesBelow(tool.pid)) {
    expect(read(`/proc/${pid}/environ`)).not.toContain('token-4713');
  }
});

test('the browsers of two sessions of mcp --http listen on no port', async () => {
  const tool = startToolProcess({ args: ['mcp', '--http', '--port', '0'], env: SECRETS });
  const url = await urlOf(tool);
  const send = async (body: object, session?: string) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json',
        ...(session === undefined ? {} : { 'mcp-session-id': session }),
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...body }),
    });
    const id = response.headers.get('mcp-session-id') ?? '';
    return { id, answer: await response.json() };
  };
  const params = {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'by hand', version: '1' },
  };
  for (const _client of ['one', 'other']) {
    const { id } = await send({ method: 'initialize', params });
    const { answer } = await send({ method: 'tools/call', params: OPEN }, id);
    expect(answer).toMatchObject({ result: { structuredContent: { title: 'Open' } } });
  }
  await expectIsolated(tool, 2);
});
