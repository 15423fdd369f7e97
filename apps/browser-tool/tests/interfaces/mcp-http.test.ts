import { mkdtemp, readdir, rm } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { waitUntil } from '@model-gateway/testkit';
import { sendRaw, type RawAnswer } from './raw-request.ts';
import { page, startSite, type Site } from '../site.ts';
import {
  endToolProcesses,
  processesWith,
  startToolProcess,
  type ToolProcess,
} from '../tool-process.ts';

const TOKEN = 'a-token-of-some-length';
// A browser takes its time on a machine that is busy.
const CALL = { timeout: 180_000 };
const CALL_WAIT = { timeoutMs: 180_000, what: 'the request of the page' };

// oxlint-disable-next-line typescript/no-explicit-any -- Decoded answers are of any shape.
type Result = any;

interface Connected {
  readonly client: Client;
  readonly transport: StreamableHTTPClientTransport;
  readonly session: string;
  call(name: string, args?: Record<string, unknown>): Promise<Result>;
}

let site: Site;
let folder: string;
let tool: ToolProcess;
let url: string;
let port: number;
let heldResponse: ServerResponse | undefined;

beforeAll(async () => {
  site = await startSite({
    '/one': page('One', '<h1>First</h1>'),
    '/two': page('Two', '<h1>Second</h1>'),
    '/slow': (_request, response) => {
      heldResponse = response;
    },
    '/never': () => undefined,
  });
  // Not below the folder of the tests: sockets have short paths.
  folder = await mkdtemp('/tmp/bt-');
  tool = startToolProcess({
    args: ['mcp', '--http', '--port', '0'],
    env: { BROWSER_TOKEN: TOKEN, BROWSER_ALLOWED_HOSTS: 'browser.internal', TMPDIR: folder },
  });
  await waitUntil(() => tool.stderr.some((line) => line.includes('http://')));
  url = /http:\S+/.exec(tool.stderr.join('\n'))?.[0] ?? '';
  port = Number(new URL(url).port);
});

afterAll(async () => {
  endToolProcesses();
  await site.close();
  await rm(folder, { recursive: true, force: true });
});

/** Connects the client of the SDK; with a session it continues that one. */
async function connect(session?: string): Promise<Connected> {
  const client = new Client({ name: 'test', version: '1' });
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { authorization: `Bearer ${TOKEN}` } },
    ...(session === undefined ? {} : { sessionId: session }),
  });
  await client.connect(transport);
  return {
    client,
    transport,
    session: transport.sessionId ?? '',
    call: (name, args = {}) => client.callTool({ name, arguments: args }, undefined, CALL),
  };
}

const textOf = (result: Result): string => result.content[0].text as string;

/** The profiles of the browsers that run. */
const profiles = async (): Promise<readonly string[]> =>
  (await readdir(folder)).filter((name) => name.startsWith('browser-tool-profile-'));

const send = (
  method: string,
  headers: Record<string, string>,
  body = '',
  path = '/mcp',
): Promise<RawAnswer> =>
  sendRaw(port, { method, path, headers: { authorization: `Bearer ${TOKEN}`, ...headers }, body });

const INITIALIZE = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'by hand', version: '1' },
  },
});
const JSON_HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
};

describe('guards', () => {
  const sessionCount = async (): Promise<unknown> => {
    const { body } = await send('GET', {}, '', '/health');
    return (body as { data: { sessions: number } }).data.sessions;
  };

  test('the address is printed on standard error, and nothing on standard output', () => {
    expect(url).toBe(`http://127.0.0.1:${port}/mcp`);
    expect(tool.stdout).toEqual([]);
  });

  test.each([
    {
      why: 'a foreign Origin',
      headers: { origin: 'https://evil.example' },
      status: 403,
      code: 'FORBIDDEN_ORIGIN',
    },
    {
      why: 'a foreign Host',
      headers: { host: 'evil.example' },
      status: 403,
      code: 'FORBIDDEN_HOST',
    },
    {
      why: 'a foreign Host with the same Origin',
      headers: { host: 'evil.example', origin: 'http://evil.example' },
      status: 403,
      code: 'FORBIDDEN_HOST',
    },
    { why: 'no token', headers: { authorization: '' }, status: 401, code: 'UNAUTHORIZED' },
    {
      why: 'a wrong token',
      headers: { authorization: 'Bearer wrong' },
      status: 401,
      code: 'UNAUTHORIZED',
    },
  ])('$why is refused before anything happens', async ({ headers, status, code }) => {
    const before = await sessionCount();
    const answer = await send('POST', { ...JSON_HEADERS, ...headers }, INITIALIZE);
    expect(answer).toMatchObject({
      status,
      body: { jsonrpc: '2.0', id: null, error: { code: -32_000, data: { code } } },
    });
    expect(answer.headers).not.toHaveProperty('mcp-session-id');
    expect(answer.headers).not.toHaveProperty('access-control-allow-origin');
    expect(await sessionCount()).toBe(before);
    // Other methods and paths are no way around it.
    expect((await send('GET', headers)).status).toBe(status);
    expect((await send('OPTIONS', headers, '', '/health')).status).toBe(status);
  });

  test('a host name of BROWSER_ALLOWED_HOSTS is served', async () => {
    const answer = await send('GET', { host: 'browser.internal' }, '', '/health');
    expect(answer).toMatchObject({ status: 200, body: { ok: true, data: { status: 'ok' } } });
  });

  test('a body of more than 1 MiB is refused', async () => {
    const before = await sessionCount();
    const huge = INITIALIZE.replace('by hand', 'x'.repeat(1024 * 1024));
    expect(await send('POST', JSON_HEADERS, huge)).toMatchObject({
      status: 413,
      body: { error: { data: { code: 'PAYLOAD_TOO_LARGE' } } },
    });
    expect(await sessionCount()).toBe(before);
  });

  test('a client of the SDK without a token learns that it needs one', async () => {
    const client = new Client({ name: 'test', version: '1' });
    const transport = new StreamableHTTPClientTransport(new URL(url));
    await expect(client.connect(transport)).rejects.toThrow(/BROWSER_TOKEN/);
  });
});

// In this order: they share two browsers.
describe("the SDK's own client", () => {
  let first: Connected;
  let second: Connected;

  test('initializes, lists twelve tools, opens a page and reads it', async () => {
    first = await connect();
    expect(first.session).not.toBe('');
    expect(first.client.getServerVersion()).toMatchObject({ name: 'browser-tool' });
    expect((await first.client.listTools()).tools).toHaveLength(12);
    // A client that never calls costs no browser.
    expect(await profiles()).toEqual([]);
    const opened = await first.call('browser_navigate', { url: `${site.url}/one` });
    expect(opened.structuredContent).toMatchObject({ ok: true, status: 200, title: 'One' });
    expect(textOf(await first.call('browser_snapshot'))).toContain('- heading "First" [level=1]');
    await expect(first.call('browser_dance')).rejects.toMatchObject({ code: -32_602 });
  });

  test('two clients at once have different sessions and different browsers', async () => {
    second = await connect();
    expect(second.session).not.toBe(first.session);
    const [, other] = await Promise.all([
      first.call('browser_evaluate', { function: '() => { document.title = "Changed" }' }),
      second.call('browser_navigate', { url: `${site.url}/two` }),
    ]);
    expect(other.structuredContent).toMatchObject({ ok: true, title: 'Two' });
    const [one, two] = await Promise.all([
      first.call('browser_snapshot'),
      second.call('browser_snapshot'),
    ]);
    expect(textOf(one)).toContain('Page Title: Changed');
    expect(textOf(two)).toContain('Page Title: Two');
    expect(await profiles()).toHaveLength(2);
  });

  test('a client that leaves in the middle of a call can continue its session', async () => {
    const left = first.call('browser_navigate', { url: `${site.url}/slow` });
    left.catch(() => undefined);
    await waitUntil(() => heldResponse !== undefined, CALL_WAIT);
    await first.client.close();
    await expect(left).rejects.toThrow();
    // The disconnect does not cancel the call: only the client can say whether it wants that.
    heldResponse?.setHeader('content-type', 'text/html');
    heldResponse?.end(page('Slow', '<h1>Late</h1>'));
    first = await connect(first.session);
    expect(textOf(await first.call('browser_snapshot'))).toContain('Page Title: Slow');
    expect(await profiles()).toHaveLength(2);
  });

  test('a cancelled call ends, and the next one runs', async () => {
    const seen = site.requests.length;
    const controller = new AbortController();
    const cancelled = first.client.callTool(
      { name: 'browser_navigate', arguments: { url: `${site.url}/never` } },
      undefined,
      { ...CALL, signal: controller.signal },
    );
    cancelled.catch(() => undefined);
    await waitUntil(() => site.requests.slice(seen).includes('/never'), CALL_WAIT);
    controller.abort();
    await expect(cancelled).rejects.toThrow();
    const next = await first.call('browser_navigate', { url: `${site.url}/one` });
    expect(next.structuredContent).toMatchObject({ ok: true, title: 'One' });
  });

  test('ending a session ends its call and its browser, and no other', async () => {
    const seen = site.requests.length;
    const running = second.call('browser_navigate', { url: `${site.url}/never` });
    running.catch(() => undefined);
    await waitUntil(() => site.requests.slice(seen).includes('/never'), CALL_WAIT);
    await second.transport.terminateSession();
    expect(await profiles()).toHaveLength(1);
    expect(await running).toMatchObject({
      isError: true,
      structuredContent: { ok: false, error: 'The tool is shutting down.' },
    });
    await expect(connect(second.session).then(({ client }) => client.listTools())).rejects.toThrow(
      /no session with this Mcp-Session-Id/,
    );
    expect(textOf(await first.call('browser_snapshot'))).toContain('Page Title: One');
  });

  test('after SIGTERM during a call no browser, file or connection is left', async () => {
    const seen = site.requests.length;
    const running = first.call('browser_navigate', { url: `${site.url}/never` });
    running.catch(() => undefined);
    await waitUntil(() => site.requests.slice(seen).includes('/never'), CALL_WAIT);
    tool.signal('SIGTERM');
    expect(await tool.exited).toBe(0);
    await waitUntil(
      async () => processesWith(folder).length === 0 && (await readdir(folder)).length === 0,
      { what: 'the end of the browser and its files' },
    );
    expect(tool.stdout).toEqual([]);
    await first.client.close();
  });
});
