import { createServer, type Server } from 'node:http';
import { abortReason, silentLog, untilAborted } from '@model-gateway/kernel';
import { waitUntil } from '@model-gateway/testkit';
import { createBrowserTool } from '../../src/app.ts';
import type { launchChromium } from '../../src/chromium/process/launch.ts';
import { readBrowserToolConfig } from '../../src/config.ts';
import { portOf, stopListening } from '../../src/servers/http/listen.ts';
import type { HttpServer } from '../../src/servers/http/http-server.ts';
import { startMcpHttpServer } from '../../src/servers/http/mcp-server.ts';

// No case needs a browser: it starts with the first call.
const CONFIG = { BROWSER_SKIP_BROWSER_FETCH: '1', CHROMIUM_PATH: '/no/such/browser' };
const BOTH = 'application/json, text/event-stream';
const HOUR_MS = 3_600_000;

const servers: HttpServer[] = [];

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

interface StartOptions {
  readonly sessionsMax?: number;
  readonly idleMs?: number;
  readonly launch?: typeof launchChromium;
}

/** Starts a server in this process. */
async function start(options: StartOptions = {}): Promise<string> {
  const { launch, ...limits } = options;
  // A browser that starts must exist.
  const config = readBrowserToolConfig(
    launch === undefined ? CONFIG : { ...CONFIG, CHROMIUM_PATH: process.execPath },
  );
  const server = await startMcpHttpServer({
    host: '127.0.0.1',
    port: 0,
    token: undefined,
    allowedHosts: [],
    sessionsMax: 10,
    idleMs: HOUR_MS,
    createTool: () =>
      createBrowserTool({
        config,
        log: silentLog,
        proxy: undefined,
        ...(launch === undefined ? {} : { launch }),
      }),
    log: silentLog,
    ...limits,
  });
  servers.push(server);
  return `http://127.0.0.1:${server.port}/mcp`;
}

interface SendOptions {
  readonly session?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

function send(url: string, body: unknown, options: SendOptions = {}): Promise<Response> {
  const { session, method = 'POST', headers = {} } = options;
  return fetch(url, {
    method,
    headers: {
      accept: BOTH,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(session === undefined ? {} : { 'mcp-session-id': session }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
}

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'by hand', version: '1' },
  },
};
const LIST = { jsonrpc: '2.0', id: 2, method: 'tools/list' };
const SNAPSHOT = {
  jsonrpc: '2.0',
  id: 3,
  method: 'tools/call',
  params: { name: 'browser_snapshot', arguments: {} },
};

/** Starts a session and returns its id. */
async function initialize(url: string, headers: Record<string, string> = {}): Promise<string> {
  const response = await send(url, INITIALIZE, { headers });
  expect(response.status).toBe(200);
  await response.text();
  return response.headers.get('mcp-session-id') ?? '';
}

const openStream = (url: string, session: string): Promise<Response> =>
  send(url, undefined, { session, method: 'GET' });

const sessionCount = async (url: string): Promise<number> => {
  const response = await fetch(url.replace('/mcp', '/health'));
  const { data } = (await response.json()) as { readonly data: { readonly sessions: number } };
  return data.sessions;
};

const statusOf = async (url: string, session: string): Promise<number> => {
  const response = await send(url, LIST, { session });
  await response.text();
  return response.status;
};

describe('requests', () => {
  test.each([
    {
      why: 'a request without a session',
      body: LIST,
      status: 400,
      message: /Mcp-Session-Id header is missing/,
    },
    { why: 'an empty body', body: '', status: 400, message: /Mcp-Session-Id header is missing/ },
    {
      why: 'a stream without a session',
      method: 'GET',
      status: 400,
      message: /Mcp-Session-Id header is missing/,
    },
    {
      why: 'an unknown session',
      body: LIST,
      session: 'made-up',
      status: 404,
      code: -32_001,
      message: /no session with this Mcp-Session-Id.*send initialize/,
    },
    {
      why: 'a stream of an unknown session',
      method: 'GET',
      session: 'made-up',
      status: 404,
      code: -32_001,
      message: /no session/,
    },
    {
      why: 'the end of an unknown session',
      method: 'DELETE',
      session: 'made-up',
      status: 404,
      code: -32_001,
      message: /no session/,
    },
    { why: 'a body that is no JSON', body: '{', status: 400, code: -32_700, message: /not JSON/ },
    {
      why: 'initialize twice in a batch',
      body: [INITIALIZE, INITIALIZE],
      status: 400,
      message: /header is missing/,
    },
    {
      why: 'a body of another type',
      body: INITIALIZE,
      headers: { 'content-type': 'text/plain' },
      status: 415,
      message: /application\/json/,
    },
    {
      why: 'a client that accepts neither form',
      body: INITIALIZE,
      headers: { accept: 'text/html' },
      status: 406,
      message: /accept both/,
    },
    {
      why: 'PUT',
      method: 'PUT',
      body: LIST,
      status: 405,
      message: /does not support PUT/,
      allow: 'GET, POST, DELETE',
    },
    {
      why: 'OPTIONS',
      method: 'OPTIONS',
      status: 405,
      message: /does not support OPTIONS/,
      allow: 'GET, POST, DELETE',
    },
    { why: 'another path', path: '/navigate', body: {}, status: 404, message: /MCP is at \/mcp/ },
  ])('$why is $status', async (row) => {
    const { body, path = '/mcp', status, code = -32_000, message, allow = null, ...options } = row;
    const url = await start();
    const response = await send(url.replace('/mcp', path), body, options);
    expect(response.status).toBe(status);
    expect(response.headers.get('allow')).toBe(allow);
    expect(await response.json()).toMatchObject({
      jsonrpc: '2.0',
      id: null,
      error: { code, message: expect.stringMatching(message) },
    });
    // A refused request leaves no session behind.
    await waitUntil(async () => (await sessionCount(url)) === 0);
  });

  test('a client gets an event stream, or JSON if it asks for nothing else', async () => {
    const url = await start();
    const forms = [
      { accept: BOTH, type: 'text/event-stream', start: /^event: message\ndata: \{/ },
      { accept: 'application/json', type: 'application/json', start: /^\{"/ },
      { accept: '*/*', type: 'application/json', start: /^\{"/ },
    ];
    for (const { accept, type, start: begin } of forms) {
      const session = await initialize(url, { accept });
      for (const message of [LIST, SNAPSHOT]) {
        const response = await send(url, message, { session, headers: { accept } });
        expect(response.status).toBe(200);
        expect(response.headers.get('content-type')).toBe(type);
        expect(await response.text()).toMatch(begin);
      }
    }
  });

  test('only versions of the protocol that the server knows are served', async () => {
    const url = await start();
    const session = await initialize(url);
    const known = { 'mcp-protocol-version': '2025-06-18' };
    const unknown = { 'mcp-protocol-version': '1999-01-01' };
    for (const method of ['GET', 'DELETE']) {
      const response = await send(url, undefined, { session, method, headers: unknown });
      expect(response.status).toBe(400);
      expect(await response.text()).toContain('Unsupported protocol version');
    }
    expect((await send(url, LIST, { session, headers: unknown })).status).toBe(400);
    expect((await send(url, LIST, { session, headers: known })).status).toBe(200);
  });

  test('a notification is 202 without a body, and initialize a second time is 400', async () => {
    const url = await start();
    const session = await initialize(url);
    const message = { jsonrpc: '2.0', method: 'notifications/initialized' };
    const response = await send(url, message, { session });
    expect({ status: response.status, text: await response.text() }).toEqual({
      status: 202,
      text: '',
    });
    const again = await send(url, INITIALIZE, { session });
    expect(again.status).toBe(400);
    await again.text();
  });

  test('a session has one stream for messages of the server, which ends with the session', async () => {
    const url = await start();
    const session = await initialize(url);
    const stream = await openStream(url, session);
    expect(stream.status).toBe(200);
    expect(stream.headers.get('content-type')).toBe('text/event-stream');
    expect((await openStream(url, session)).status).toBe(409);
    const ended = await send(url, undefined, { session, method: 'DELETE' });
    expect(ended.status).toBe(200);
    expect(await stream.text()).toBe('');
    expect(await statusOf(url, session)).toBe(404);
    const again = await send(url, undefined, { session, method: 'DELETE' });
    expect(again.status).toBe(404);
  });

  test('a cancelled call is answered, so that its response does not stay open', async () => {
    let launches = 0;
    const url = await start({
      // A browser that never gets ready.
      launch: async ({ signal }) => {
        launches += 1;
        await untilAborted(signal);
        throw abortReason(signal);
      },
    });
    for (const [index, accept] of [BOTH, 'application/json'].entries()) {
      const session = await initialize(url, { accept });
      const answer = send(url, SNAPSHOT, { session, headers: { accept } });
      await waitUntil(() => launches > index);
      const cancelled = await send(
        url,
        { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: SNAPSHOT.id } },
        { session, headers: { accept } },
      );
      expect(cancelled.status).toBe(202);
      expect(await (await answer).text()).toContain(
        '"error":{"code":-32800,"message":"The client cancelled the call."}',
      );
    }
  });

  test('a stop ends open streams and answers', async () => {
    const url = await start();
    const stream = await openStream(url, await initialize(url));
    await servers.splice(0)[0]?.close();
    expect(await stream.text()).toBe('');
    await expect(fetch(url)).rejects.toThrow();
  });
});

describe('the number of sessions', () => {
  test('a session without an open connection ends after a time; one with a stream does not', async () => {
    const url = await start({ idleMs: 200 });
    let session = '';
    let stream: Response | undefined;
    // On a busy machine the session may end before its stream is opened.
    await waitUntil(async () => {
      session = await initialize(url);
      stream = await openStream(url, session);
      return stream.status === 200;
    });
    // Twice: the end of a request must not count while the stream is open.
    for (const _round of [1, 2]) {
      await initialize(url);
      await waitUntil(async () => (await sessionCount(url)) === 1);
      expect(await statusOf(url, session)).toBe(200);
    }
    await stream?.body?.cancel();
    await waitUntil(async () => (await sessionCount(url)) === 0);
    expect(await statusOf(url, session)).toBe(404);
  });

  test('at the limit, a new client replaces the one that is idle for the longest time', async () => {
    const url = await start({ sessionsMax: 2 });
    const first = await initialize(url);
    const second = await initialize(url);
    expect(await statusOf(url, first)).toBe(200);
    const third = await initialize(url);
    expect(await statusOf(url, second)).toBe(404);
    const streams = await Promise.all([openStream(url, first), openStream(url, third)]);
    const refused = await send(url, INITIALIZE);
    expect(refused.status).toBe(429);
    expect(await refused.json()).toMatchObject({
      error: {
        message: expect.stringMatching(/^All 2 sessions are in use.*BROWSER_MCP_SESSIONS_MAX/),
        data: { code: 'LIMIT_REACHED' },
      },
    });
    expect(await statusOf(url, first)).toBe(200);
    for (const { body } of streams) await body?.cancel();
  });
});

test('a port in use is reported with what to do', async () => {
  const server: Server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const config = readBrowserToolConfig(CONFIG);
  const starting = startMcpHttpServer({
    host: '127.0.0.1',
    port: portOf(server),
    token: undefined,
    allowedHosts: [],
    sessionsMax: 1,
    idleMs: HOUR_MS,
    createTool: () => createBrowserTool({ config, log: silentLog, proxy: undefined }),
    log: silentLog,
  });
  await expect(starting).rejects.toThrow(
    /^cannot listen on 127\.0\.0\.1:\d+: .*another program uses the port: choose another with --port, or a free one with --port 0$/,
  );
  await stopListening(server);
});
