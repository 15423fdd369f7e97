import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { expectRecorded, waitUntil } from '@model-gateway/testkit';
import { createMcpServer } from '../../src/servers/mcp/create-mcp-server.ts';
import type { Site } from '../site.ts';
import type { ToolUnderTest } from '../tool.ts';
import { FULL, openScene, recorded, type RecordScene } from './scene.ts';

let scene: RecordScene;
let site: Site;
let tool: ToolUnderTest;

beforeAll(async () => {
  scene = await openScene();
  ({ site, tool } = scene);
});
afterAll(() => scene.close());

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
    scene.note(`${name} ${JSON.stringify(args) ?? ''}`, rest);
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
    scene.note(`initialize ${protocolVersion}`, rest);
  }
  const { id: _id, ...listed } = (await request('tools/list')) as { readonly id: number };
  scene.note('tools/list', listed);
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
  await call('browser_click', { uid: await scene.refOf('#order'), doubleClick: true });
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
  const stale = await scene.refOf('#order');
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
  scene.note('tools/dance', { ...unknown, id: 0 });
  await server.close();
  await expectRecorded(recorded('mcp'), scene.take(), FULL);
}, 240_000);
