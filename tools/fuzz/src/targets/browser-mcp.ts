import * as fc from 'fast-check';
import { hostileValue, mutated, textOf } from '../grammar/hostile.ts';
import { listTree, objectTree, rawTree, treeOf, type JsonTree } from '../grammar/json-tree.ts';
import { rarely } from '../grammar/rarely.ts';
import { bytesOf, cutAt, cuts, onTheWire, type WireText } from '../grammar/wire-text.ts';
import { checkAnswer } from '../run/check-answer.ts';
import { afterHangUp, send } from '../run/send.ts';
import type { BrowserMcpScene, Target } from '../target.ts';

interface McpRequest {
  readonly method: string;
  readonly hasToken: boolean;
  /** The session that all cases share, one that does not exist, or none. */
  readonly session: 'shared' | 'unknown' | 'none';
  readonly headers: Readonly<Record<string, string>>;
  readonly body: WireText;
  readonly cuts: readonly number[];
  readonly hangsUp: boolean;
}

const ENDPOINT = '/mcp';
const ACCEPT = 'application/json, text/event-stream';

const INITIALIZE = {
  method: 'initialize',
  params: {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'fuzz', version: '1' },
  },
};

/** Usual calls. They wait for pages, and a case must not. */
const CALLS: Readonly<Record<string, object>> = {
  browser_navigate: { url: 'data:text/html,<button>Go</button><input>', timeoutMs: 200 },
  browser_snapshot: { depth: 2 },
  browser_dom: { selector: 'button' },
  browser_click: { target: 'e1', timeoutMs: 200 },
  browser_type: { target: 'input', text: 'Hello', timeoutMs: 200 },
  browser_press_key: { key: 'Enter' },
  browser_evaluate: { function: '() => 1', timeoutMs: 200 },
  browser_console_messages: { limit: 1 },
  browser_resize: { width: 800, height: 600 },
};

const MESSAGES: readonly object[] = [
  INITIALIZE,
  { method: 'ping' },
  { method: 'tools/list' },
  { method: 'resources/list' },
  { method: 'logging/setLevel', params: { level: 'debug' } },
  { method: 'completion/complete', params: { ref: { type: 'ref/prompt', name: 'x' } } },
  ...Object.entries(CALLS).map(([name, args]) => ({
    method: 'tools/call',
    params: { name, arguments: args, _meta: { progressToken: 1 } },
  })),
];

const request: fc.Arbitrary<JsonTree> = fc
  .record({ message: fc.constantFrom(...MESSAGES), id: fc.oneof(fc.nat(), fc.string()) })
  .map(({ message, id }) => treeOf({ jsonrpc: '2.0', id, ...message }));

const notification: fc.Arbitrary<JsonTree> = fc
  .constantFrom(
    { method: 'notifications/initialized' },
    { method: 'notifications/cancelled', params: { requestId: 1, reason: 'x' } },
    { method: 'notifications/progress', params: { progressToken: 1, progress: 1 } },
  )
  .map((message) => treeOf({ jsonrpc: '2.0', ...message }));

const response: fc.Arbitrary<JsonTree> = fc
  .nat()
  .map((id) => objectTree({ jsonrpc: treeOf('2.0'), id: treeOf(id), result: rawTree('{}') }));

const message = fc.oneof(
  { weight: 8, arbitrary: request },
  { weight: 1, arbitrary: notification },
  { weight: 1, arbitrary: response },
);

const body = onTheWire(
  fc.oneof(
    { weight: 12, arbitrary: textOf(mutated(message)) },
    { weight: 3, arbitrary: textOf(fc.array(mutated(message), { maxLength: 8 }).map(listTree)) },
    { weight: 1, arbitrary: hostileValue },
    { weight: 1, arbitrary: fc.string() },
  ),
);

const headers = fc.dictionary(
  fc.constantFrom(
    'accept',
    'content-type',
    'host',
    'last-event-id',
    'mcp-protocol-version',
    'mcp-session-id',
    'origin',
  ),
  fc.oneof(
    fc.constantFrom('', '*/*', 'application/json', 'text/event-stream', '2025-06-18', '2024-11-05'),
    fc.string().map((text) => text.replaceAll(/[^\x20-\x7e]/g, '')),
  ),
  { maxKeys: 2, noNullPrototype: true },
);

// Each process has one session for all cases: a session with a call has a browser.
const sessions = new Map<string, string>();

/** MCP over HTTP. */
export const browserMcp: Target<McpRequest, BrowserMcpScene> = {
  name: 'browser-mcp',
  about: 'the MCP server of the browser tool over HTTP',
  scene: 'browser-mcp',
  shortCases: 40,
  cases: () =>
    Promise.resolve(
      fc.record({
        method: fc.oneof(
          { weight: 20, arbitrary: fc.constant('POST') },
          { weight: 1, arbitrary: fc.constantFrom('GET', 'DELETE', 'PUT', 'OPTIONS') },
        ),
        hasToken: fc.oneof({ weight: 9, arbitrary: fc.constant(true) }, fc.boolean()),
        session: fc.oneof(
          { weight: 9, arbitrary: fc.constant('shared' as const) },
          { weight: 1, arbitrary: fc.constantFrom('unknown' as const, 'none' as const) },
        ),
        headers: fc.oneof({ weight: 5, arbitrary: fc.constant({}) }, headers),
        body,
        cuts,
        hangsUp: rarely(),
      }),
    ),
  async run(each, scene) {
    const authorization = { authorization: `Bearer ${scene.values['browser_token']}` };
    const session = await sessionOf(each, scene, authorization);
    const hasBody = each.method === 'POST';
    const hangsUp = each.hangsUp && hasBody;
    const answer = await send(scene.url, {
      method: each.method,
      path: ENDPOINT,
      headers: {
        accept: ACCEPT,
        'content-type': 'application/json',
        ...(each.hasToken ? authorization : {}),
        ...(session === undefined ? {} : { 'mcp-session-id': session }),
        ...each.headers,
      },
      pieces: hasBody ? cutAt(bytesOf(each.body), each.cuts) : [],
      hangsUp,
      // The stream for messages of the server ends with the session.
      headersOnly: each.method === 'GET',
    });
    if (each.method === 'DELETE' || answer.status === 404) sessions.delete(scene.url);
    if (hangsUp) return afterHangUp(scene.url);
    if (answer.outcome === 'broken off') return ['the connection broke'];
    return checkAnswer(answer, scene.secrets);
  },
};

/** The id of the session that a case names; starts the shared session if there is none. */
async function sessionOf(
  { session }: McpRequest,
  { url }: BrowserMcpScene,
  authorization: Readonly<Record<string, string>>,
): Promise<string | undefined> {
  if (session === 'none') return undefined;
  if (session === 'unknown') return 'unknown';
  const known = sessions.get(url);
  if (known !== undefined) return known;
  const started = await fetch(`${url}${ENDPOINT}`, {
    method: 'POST',
    headers: { ...authorization, accept: ACCEPT, 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...INITIALIZE }),
  });
  await started.text();
  const id = started.headers.get('mcp-session-id') ?? 'none';
  sessions.set(url, id);
  return id;
}
