import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { silentLog } from '@model-gateway/kernel';
import { expectRecorded, waitUntil } from '@model-gateway/testkit';
import { WebSocketServer } from 'ws';
import { createBrowserTool } from '../../src/app.ts';
import { readBrowserToolConfig } from '../../src/config.ts';
import { createMcpServer } from '../../src/servers/mcp/create-mcp-server.ts';
import { startMcpHttpServer } from '../../src/servers/http/mcp-server.ts';
import { sendRaw } from '../interfaces/raw-request.ts';
import { startSite, type Site } from '../site.ts';
import { startTool, type ToolUnderTest } from '../tool.ts';
import { PAGES } from './pages.ts';
import { createSteady } from './steady.ts';

// What both faces answer to each command and each kind of error, compared with what was recorded.
// `TEST_RECORD=1 npm test -- apps/browser-tool/tests/records` records it anew.

let site: Site;
let sockets: WebSocketServer;
let tool: ToolUnderTest;
let answers: Map<string, unknown>;
let steady: ReturnType<typeof createSteady>;

beforeAll(async () => {
  site = await startSite(PAGES);
  sockets = new WebSocketServer({ port: 0 });
  sockets.on('connection', (socket) => socket.on('message', () => socket.send('answer')));
  tool = await startTool();
});
afterAll(async () => {
  await tool.close();
  sockets.close();
  await site.close();
});
const socketPort = (): number => (sockets.address() as { readonly port: number }).port;

beforeEach(() => {
  answers = new Map();
  steady = createSteady({ SITE: site.port, TOOL: tool.port, SOCKETS: socketPort() });
});

const recorded = (name: string): URL => new URL(`recorded/${name}.jsonl`, import.meta.url);
const FULL = { isReadable: () => true };

/** Notes an answer under its question, which may be asked more than once. */
function note(question: string, answer: unknown): void {
  const text = String(steady(question));
  const times = [...answers.keys()].filter((each) => each.replace(/ \(\d+\)$/, '') === text).length;
  answers.set(times === 0 ? text : `${text} (${times + 1})`, steady(answer));
}

/** Asks the HTTP face: `GET /path`, or `POST /path` with a body. */
async function ask(method: string, path: string, body?: unknown, headers = {}): Promise<unknown> {
  const response = await fetch(`${tool.url}${path}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const type = response.headers.get('content-type') ?? '';
  const answer = type.startsWith('application/json')
    ? await response.json()
    : await response.blob();
  const allow = response.headers.get('allow');
  const shown =
    body === undefined ? '' : ` ${typeof body === 'string' ? body : JSON.stringify(body)}`;
  note(
    `${method} ${path}${shown}${Object.keys(headers).length > 0 ? JSON.stringify(headers) : ''}`,
    {
      status: response.status,
      type,
      ...(allow === null ? {} : { allow }),
      answer: answer instanceof Blob ? '<bytes>' : answer,
    },
  );
  return answer instanceof Blob ? undefined : answer;
}
const get = (path: string): Promise<unknown> => ask('GET', path);
const post = (path: string, body: unknown = {}): Promise<unknown> => ask('POST', path, body);
const open = (path: string): Promise<unknown> => post('/navigate', { url: `${site.url}${path}` });

const refOf = async (selector: string): Promise<string> =>
  (await tool.get(`/dom?selector=${encodeURIComponent(selector)}`)).data.ref as string;

test('the HTTP face', async () => {
  await get('/health');
  await open('/');
  await get('/info');
  await get('/a11y?format=text');
  await get('/a11y');
  await get('/a11y?format=text&interactive=1&urls=1');
  await get('/a11y?format=text&depth=2&max_chars=100');
  await get('/a11y?selector=table&format=text');
  await get('/a11y?cursor=n99999&format=text');
  await get('/dom?selector=%23name&computed=color,display');
  await get('/dom?selector=.twin&all=true&html=none');
  await get('/dom?selector=%23next&attribute=href');
  await get('/dom?selector=.missing');
  await get('/dom?selector=%5B');
  await get('/dom?max_chars=40');
  await post('/click', { target: '#order' });
  await post('/click', { ref: await refOf('#order') });
  await post('/click', { selector: '.twin' });
  await post('/click', { target: 'xpath=(//button[@class="twin"])[1]', double: true });
  await post('/click', { target: 'text=Place order', button: 'right', modifiers: ['Shift'] });
  await post('/click', { target: '#order', position: { x: 3, y: 3 }, force: true });
  await post('/click', { target: '#covered' });
  await post('/click', { target: '#off', timeout_ms: 200 });
  await post('/click', { target: '#hidden', timeout_ms: 200 });
  await post('/click', { target: '#missing', timeout_ms: 200 });
  await post('/click', { target: 'e999999' });
  await post('/click', { target: '[[' });
  await post('/click', { target: 'text=' });
  await post('/click', { target: 'xpath=///' });
  await post('/click', { target: '#confirm' });
  await post('/click', { target: '#confirm', dialog: 'accept' });
  await post('/click', { target: '#prompt', dialog: 'accept', prompt_text: 'Bob' });
  await post('/click', { target: '#alert' });
  await post('/click', { target: '#file' });
  await post('/type', { target: '#name', text: 'Ann' });
  await post('/type', { target: '#name', text: ' Lee', clear_first: false, slowly: true });
  await post('/type', { target: '#secret', text: 'hush' });
  await post('/type', { target: '#date', text: '2026-12-31' });
  await post('/type', { target: '#date', text: 'soon' });
  await post('/type', { target: '#size', text: 'Large' });
  await post('/type', { target: '#size', text: 'Tiny' });
  await post('/type', { target: '#size', text: 'Huge' });
  await post('/type', { target: '#rich', text: 'new' });
  await post('/type', { target: '#area', text: 'a\nb' });
  await post('/type', { target: '#box', text: 'x', timeout_ms: 200 });
  await post('/type', { target: '#fixed', text: 'x', timeout_ms: 200 });
  await post('/press', { key: 'Tab' });
  await post('/press', { key: 'Control+A', target: '#name', count: 2 });
  await post('/press', { key: 'Nonsense' });
  await post('/press', { key: 'A', target: 'h1', timeout_ms: 200 });
  await post('/press', {});
  await post('/wait-for-selector', { selector: 'h1' });
  await post('/wait-for-selector', { selector: '.nope', timeout_ms: 50 });
  await post('/wait-for-selector', { selector: '.nope', timeout_ms: 50, required: true });
  await post('/wait-for-selector', { selector: '.nope', state: 'detached' });
  await get('/viewport');
  await post('/resize', { width: 640, height: 480 });
  await post('/resize', { width: 0, height: 480 });
  await post('/screenshot', {});
  await post('/screenshot', { format: 'jpeg', quality: 40, full_page: true });
  await post('/screenshot', { target: '#name', max_dimension: 0 });
  await post('/screenshot', { target: '#hidden', timeout_ms: 200 });
  await ask('POST', '/screenshot', {}, { accept: 'image/webp' });
  await post('/resize', { width: 1280, height: 720 });
  const stale = await refOf('#order');
  await post('/click', { target: '#next' });
  await post('/click', { target: stale });
  await post('/back');
  await post('/forward');
  await post('/reload');
  await post('/forward');
  await post('/batch', {
    operations: [
      { type: 'scroll', to: 'bottom' },
      { type: 'scroll', y: -100, name: 'up' },
      { type: 'scroll', target: 'button' },
      { type: 'wait', ms: 1 },
      { type: 'wait_for_selector', selector: 'h1' },
      { type: 'evaluate', expression: 'document.title' },
      { type: 'screenshot', target: 'h1' },
      { type: 'a11y', format: 'text' },
      { type: 'dance' },
      { type: 'back' },
    ],
  });
  await post('/batch', { operations: [{ type: 'click' }, {}], stop_on_error: false });
  await post('/batch', { operations: 'x' });
  await open('/hop');
  await open('/frames');
  await get('/a11y?format=text&boxes=1');
  await post('/click', { target: 'text=Inside' });
  await post('/click', { target: '#deep' });
  await post('/evaluate', { expression: 'element.ownerDocument.title', target: 'text=Pressed' });
  await open('/');
  await post('/click', { target: '#tab' });
  await expectRecorded(recorded('http'), answers, FULL);
}, 240_000);

test('navigations and scripts over HTTP', async () => {
  await open('/');
  await post('/navigate', { url: `${site.url}/next`, wait_for: 'h1' });
  await post('/navigate', { url: `${site.url}/next`, wait_for: '.nope', timeout_ms: 300 });
  await post('/navigate', { url: `${site.url}/never`, timeout_ms: 300 });
  await open('/empty');
  await open('/broken');
  await open('/file');
  await open('/missing');
  await open('/next#part');
  for (const url of ['file:///etc/passwd', 'javascript:1', 'chrome://version', 'x y', '', '/path'])
    await post('/navigate', { url });
  await post('/navigate', { url: 'http://127.0.0.1:1/' });
  await post('/navigate', { url: 'data:text/html,<title>Data</title>' });
  await post('/navigate', { url: 'about:blank' });
  await post('/navigate', {});
  await post('/navigate', { url: 5 });
  await post('/navigate', { url: 'about:blank', wait_until: 'soon' });
  await post('/navigate', { url: 'about:blank', surprise: 1 });
  await open('/');
  for (const expression of SCRIPTS) await post('/evaluate', { expression });
  await post('/evaluate', { function: '(a, b) => a + b', args: [1, 2] });
  await post('/evaluate', {
    function: '(element, more) => element.id + more',
    target: '#name',
    args: ['!'],
  });
  await post('/evaluate', { expression: 'element.value', target: '#name' });
  await post('/evaluate', { expression: '1', args: [1] });
  await post('/evaluate', { expression: 'new Promise(() => {})', timeout_ms: 100 });
  await post('/evaluate', { expression: 'for (;;);', timeout_ms: 100 });
  await post('/evaluate', { expression: 'Promise.resolve(1)', await_promise: false });
  await post('/evaluate', { expression: 'location.href = "/next"; new Promise(() => {})' });
  await post('/evaluate', { expression: 'confirm("Sure?")', dialog: 'accept' });
  await expectRecorded(recorded('scripts'), answers, FULL);
}, 240_000);

const SCRIPTS = [
  '1 + 1',
  '"text"',
  'undefined',
  'null',
  '-0',
  'NaN',
  '10n',
  'Symbol("s")',
  '({ a: [1, { b: 2 }], c: undefined })',
  '{ a: 1 }',
  'document.body.children.length',
  'document.querySelector("#name")',
  'new Map([["a", 1]])',
  'const loop = {}; loop.loop = loop; loop',
  '() => 5',
  'async () => 6',
  'function () { return 7 }',
  'function named(x) { return typeof x }',
  'async function* many() {}',
  '(() => 8)()',
  '(() => 9)',
  'x => x',
  'async x => x',
  '() => 10;',
  '() => ({ a: 1 }) // comment',
  '/* comment */ () => 11',
  'class A {}',
  'return 12',
  'const a = await Promise.resolve(13); return a',
  'await Promise.resolve(14)',
  'let twice = 1',
  'let twice = 2',
  'twice',
  'function declared() { return 1 }\ndeclared() + 14',
  '() => 1, 2',
  '() => { throw new TypeError("no") }',
  'throw "plain"',
  'missing.field',
  '1 +',
  '() => {',
  'Promise.reject(new Error("later"))',
  '(async () => { return [1] })()',
  '"x".repeat(2 * 1024 * 1024)',
  '',
];

test('captures, guards and unknown routes over HTTP', async () => {
  await open('/noise');
  await waitUntil(async () => (await tool.get('/errors')).data.errors.length === 1);
  await get('/console');
  await get('/console?level=warning&limit=1');
  await get('/console?source=exception');
  await get('/console?level=loud');
  await get('/errors');
  await tool.delete('/console');
  await get('/console?all=true');
  await open('/next');
  await tool.delete('/network');
  await tool.post('/evaluate', {
    expression:
      'fetch("/json").then((r) => r.text()).then(() => fetch("/json", { method: "POST", body: "sent" })).then((r) => r.text()).then(() => fetch("/missing")).then((r) => r.text())',
  });
  await waitUntil(async () => {
    const { resources } = (await tool.get('/network')).data as {
      readonly resources: readonly { readonly duration: unknown }[];
    };
    return resources.every(({ duration }) => duration !== null);
  });
  await get('/network');
  await get('/network?status=4xx');
  await get('/network?method=POST&url=json&limit=1');
  await get('/network?status=abc');
  const { id } = (await tool.get('/network?method=POST')).data.resources[0] as {
    readonly id: string;
  };
  note('GET /network/:id', (await tool.get(`/network/${id}?body=1`)).data.body);
  await get('/network/nope');
  await get('/network/%E0');
  await ask('DELETE', '/network');
  await tool.post('/evaluate', {
    expression: `new Promise((resolve) => { const s = window.s = new WebSocket('ws://127.0.0.1:${socketPort()}/'); s.onopen = () => s.send('hi'); s.onmessage = () => resolve() })`,
  });
  await get('/websocket');
  const [socket] = (await tool.get('/websocket')).data.connections as { readonly id: string }[];
  note('GET /websocket/:id', (await tool.get(`/websocket/${socket?.id ?? ''}`)).data);
  await get('/websocket/nope');
  await ask('DELETE', '/websocket');
  await ask('GET', '/nowhere');
  await ask('PUT', '/console');
  await ask('GET', '/click');
  await ask('POST', '/click', '{');
  await ask('POST', '/click', '[]');
  await ask('POST', '/click', 'null');
  await ask('POST', '/click', { target: 'a'.repeat(1_100_000) }).catch(() => undefined);
  answers.delete([...answers.keys()].at(-1) ?? '');
  await ask('POST', '/click', { target: 1, button: 'up', modifiers: 'Shift' });
  await ask('GET', '/console?limit=many');
  await ask('GET', '/health', undefined, { origin: 'https://evil.example' });
  await ask('GET', '/health', undefined, { 'sec-fetch-site': 'cross-site' });
  for (const headers of [{ host: 'evil.example' }, { host: 'localhost' }]) {
    const { status, body } = await sendRaw(tool.port, { method: 'GET', path: '/health', headers });
    note(`GET /health ${JSON.stringify(headers)}`, { status, body });
  }
  await expectRecorded(recorded('captures'), answers, FULL);
}, 240_000);

test('the MCP face', async () => {
  const server = createMcpServer(() => Promise.resolve(tool.tool));
  const [client, transport] = InMemoryTransport.createLinkedPair();
  const waiting = new Map<unknown, (message: JSONRPCMessage) => void>();
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- The SDK has no other way.
  client.onmessage = (message) => waiting.get('id' in message ? message.id : undefined)?.(message);
  await server.connect(transport);
  await client.start();
  let next = 1;
  const request = async (method: string, params: object = {}): Promise<unknown> => {
    const id = next++;
    const answer = new Promise<JSONRPCMessage>((resolve) => void waiting.set(id, resolve));
    await client.send({ jsonrpc: '2.0', id, method, params } as JSONRPCMessage);
    const { jsonrpc: _jsonrpc, ...rest } = (await answer) as { readonly jsonrpc: string };
    return rest;
  };
  const call = async (name: string, args?: unknown): Promise<void> => {
    const answer = await request('tools/call', {
      name,
      ...(args === undefined ? {} : { arguments: args }),
    });
    const { id: _id, ...rest } = answer as { readonly id: number };
    note(`${name} ${JSON.stringify(args) ?? ''}`, rest);
  };
  for (const protocolVersion of [
    '2024-11-05',
    '2025-03-26',
    '2025-06-18',
    '2025-11-25',
    '1999-01-01',
  ]) {
    const clientInfo = { name: 'by hand', version: '1' };
    const answer = await request('initialize', { protocolVersion, capabilities: {}, clientInfo });
    const { id: _id, ...rest } = answer as { readonly id: number };
    note(`initialize ${protocolVersion}`, rest);
  }
  const { id: _id, ...listed } = (await request('tools/list')) as { readonly id: number };
  note('tools/list', listed);
  await call('browser_navigate', { url: `${site.url}/`, includeSnapshot: true });
  await call('browser_snapshot');
  await call('browser_snapshot', { interactive: true, urls: true, boxes: false });
  await call('browser_snapshot', { target: 'table' });
  await call('browser_snapshot', { maxChars: 200 });
  await call('browser_snapshot', { maxChars: 200, cursor: 'n10' });
  await call('browser_snapshot', { cursor: 'x' });
  await call('browser_dom', { selector: '.twin', all: true });
  await call('browser_dom', { selector: '#next', attribute: 'href' });
  await call('browser_dom', { selector: '#name', computed: true, html: 'none' });
  await call('browser_dom', { selector: '.missing' });
  await call('browser_dom');
  await call('browser_screenshot');
  await call('browser_screenshot', { element: '#name', format: 'webp' });
  await call('browser_screenshot', { fullPage: true, format: 'jpeg', maxDimension: 0 });
  await call('browser_click', { target: '#order', element: 'the order button' });
  await call('browser_click', { uid: await refOf('#order'), doubleClick: true });
  await call('browser_click', { target: '#covered' });
  await call('browser_click', { target: '.twin' });
  await call('browser_click', { target: '#missing', timeoutMs: 100 });
  await call('browser_click', { target: 'e999999' });
  await call('browser_click', { target: '#confirm', includeSnapshot: true });
  await call('browser_click', { target: '#prompt', dialog: 'accept', promptText: 'Bob' });
  await call('browser_click', { target: '#file' });
  await call('browser_click', {});
  await call('browser_click', { target: 'a', button: 'up' });
  await call('browser_click', { target: 'a', surprise: 1 });
  await call('browser_click', { target: 'a', modifiers: ['Hyper'] });
  await call('browser_click', 5);
  await call('browser_type', { target: '#name', text: 'Ann' });
  await call('browser_type', { target: '#secret', text: 'hush', submit: true });
  await call('browser_type', { target: '#size', text: 'Large' });
  await call('browser_type', { target: '#size', text: 'Tiny' });
  await call('browser_type', { target: '#off', text: 'x', timeoutMs: 100 });
  await call('browser_press_key', { key: 'Control+A', target: '#name' });
  await call('browser_press_key', { key: 'Nonsense' });
  await call('browser_evaluate', { function: '(element) => element.value', target: '#name' });
  await call('browser_evaluate', { expression: '({ a: 1 })' });
  await call('browser_evaluate', { script: 'undefined' });
  await call('browser_evaluate', { function: '() => { throw new Error("no") }' });
  await call('browser_evaluate', { function: '() => new Promise(() => {})', timeoutMs: 100 });
  await call('browser_evaluate', { function: '"x".repeat(30000)' });
  await call('browser_console_messages');
  await call('browser_console_messages', { level: 'error', limit: 1, clear: true });
  await call('browser_console_messages', { all: true });
  await call('browser_resize', { width: 800, height: 600 });
  await call('browser_resize', { width: 0, height: 600 });
  await call('browser_resize', { width: 1280, height: 720 });
  const stale = await refOf('#order');
  await call('browser_click', { target: 'text=Next' });
  await call('browser_click', { target: stale });
  await call('browser_navigate_back', { includeSnapshot: true });
  await call('browser_navigate_forward', {});
  await call('browser_navigate_forward', {});
  await call('browser_click', { target: '#nothing', includeSnapshot: true, timeoutMs: 50 });
  await call('browser_navigate', { url: `${site.url}/broken` });
  await call('browser_navigate', { url: `${site.url}/empty` });
  await call('browser_navigate', { url: 'http://127.0.0.1:1/' });
  await call('browser_navigate', { url: 'file:///etc/passwd' });
  await call('browser_navigate', { url: 'not a url' });
  await call('browser_navigate', { url: `${site.url}/never`, timeoutMs: 200 });
  await call('browser_navigate', { url: `${site.url}/` });
  await call('browser_click', { target: '#tab' });
  await call('browser_dance');
  const { session } = tool.tool;
  const crash = { url: 'chrome://crash', waitUntil: 'load', timeoutMs: 5_000 } as const;
  await session
    .run({ name: 'crash', deadlineMs: 10_000 }, (engine, given) => engine.navigate(crash, given))
    .catch(() => undefined);
  await waitUntil(() => session.status().engine?.isTabCrashed === true);
  await call('browser_evaluate', { function: '1 + 1' });
  const unknown = (await request('tools/dance')) as { readonly id: number };
  note('tools/dance', { ...unknown, id: 0 });
  await server.close();
  await expectRecorded(recorded('mcp'), answers, FULL);
}, 240_000);

test('MCP over HTTP', async () => {
  const config = readBrowserToolConfig({
    BROWSER_SKIP_BROWSER_FETCH: '1',
    CHROMIUM_PATH: '/no/such/browser',
  });
  const server = await startMcpHttpServer({
    host: '127.0.0.1',
    port: 0,
    token: 'secret',
    allowedHosts: [],
    sessionsMax: 2,
    idleMs: 3_600_000,
    createTool: () => createBrowserTool({ config, log: silentLog, proxy: undefined }),
    log: silentLog,
  });
  steady = createSteady({ MCP: server.port });
  const both = 'application/json, text/event-stream';
  let session = '';
  const send = async (method: string, path: string, headers: object, body = ''): Promise<void> => {
    const sent: Record<string, string> = {
      authorization: 'Bearer secret',
      'content-type': 'application/json',
      accept: both,
      ...headers,
    };
    const answer = await sendRaw(server.port, { method, path, headers: sent, body });
    // How the body is framed on the connection is no part of the answer.
    const {
      date: _date,
      'content-length': _length,
      'transfer-encoding': _encoding,
      ...fields
    } = answer.headers;
    session = String(answer.headers['mcp-session-id'] ?? session);
    note(`${method} ${path} ${JSON.stringify(headers)} ${body}`, {
      status: answer.status,
      headers: fields,
      body: answer.body,
    });
  };
  const clientInfo = { name: 'by hand', version: '1' };
  const initialize = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo },
  });
  const message = (method: string, params: object = {}): string =>
    JSON.stringify({ jsonrpc: '2.0', id: 2, method, params });
  try {
    await send('GET', '/health', {});
    await send('GET', '/nowhere', {});
    await send('POST', '/health', {});
    await send('PUT', '/mcp', {});
    await send('GET', '/mcp', {});
    await send('DELETE', '/mcp', {});
    await send('POST', '/mcp', {}, '{');
    await send('POST', '/mcp', {}, '{}');
    await send('POST', '/mcp', { authorization: 'Bearer wrong' }, initialize);
    await send('POST', '/mcp', { origin: 'https://evil.example' }, initialize);
    await send('POST', '/mcp', { host: 'evil.example' }, initialize);
    await send('POST', '/mcp', { 'mcp-session-id': 'unknown' }, message('tools/list'));
    for (const accept of [both, 'application/json', '*/*', 'text/event-stream', 'text/html']) {
      await send('POST', '/mcp', { accept }, initialize);
      await send('POST', '/mcp', { accept, 'mcp-session-id': session }, message('ping'));
      await send('POST', '/mcp', { 'mcp-session-id': session }, '{');
      await send(
        'POST',
        '/mcp',
        { 'mcp-session-id': session, 'mcp-protocol-version': '1999-01-01' },
        message('ping'),
      );
      await send(
        'POST',
        '/mcp',
        { 'mcp-session-id': session, 'content-type': 'text/plain' },
        message('ping'),
      );
      await send(
        'POST',
        '/mcp',
        { 'mcp-session-id': session },
        message('tools/call', { name: 'browser_snapshot' }),
      );
      await send('POST', '/mcp', { 'mcp-session-id': session }, initialize);
      await send('DELETE', '/mcp', { 'mcp-session-id': session });
      await send('POST', '/mcp', { 'mcp-session-id': session }, message('ping'));
    }
    await send('POST', '/mcp', {}, `[${initialize}]`);
    await send('GET', '/health', {});
  } finally {
    await server.close();
  }
  await expectRecorded(recorded('mcp-http'), answers, FULL);
}, 240_000);
