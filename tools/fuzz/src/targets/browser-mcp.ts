import * as fc from 'fast-check';
import { fromSchema, type FieldValues, type Schema } from '../grammar/from-schema.ts';
import { hostileText, jsonText } from '../grammar/json-text.ts';
import { onTheWire } from '../grammar/wire-text.ts';
import type { BrowserMcpScene, Target } from '../target.ts';
import {
  checkCase,
  httpCases,
  oddHeaders,
  sendCase,
  withCredential,
  type HttpCase,
} from './http-case.ts';

const ENDPOINT = '/mcp';
const HEADERS = {
  accept: 'application/json, text/event-stream',
  'content-type': 'application/json',
};
const INITIALIZE = {
  method: 'initialize',
  params: {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'fuzz', version: '1' },
  },
};
const MESSAGES = [
  INITIALIZE,
  { method: 'ping' },
  { method: 'tools/list' },
  { method: 'resources/list' },
  { method: 'logging/setLevel', params: { level: 'debug' } },
  { method: 'completion/complete', params: { ref: { type: 'ref/prompt', name: 'x' } } },
];
const FIELDS: FieldValues = {
  url: ['data:text/html,<button>Go</button><input>'],
  target: ['e1', 'input'],
  selector: ['button'],
  key: ['Enter'],
  function: ['() => 1'],
};

const WITHOUT_ID = [
  { method: 'notifications/initialized' },
  { method: 'notifications/cancelled', params: { requestId: 1, reason: 'x' } },
  { method: 'notifications/progress', params: { progressToken: 1, progress: 1 } },
];
const headers = oddHeaders(
  ['accept', 'content-type', 'host', 'last-event-id', 'mcp-protocol-version', 'origin'],
  ['', '*/*', 'application/json', 'text/event-stream', '2025-06-18', '2024-11-05'],
);
/** The session that all cases share, one that does not exist, or none. */
const session = fc.oneof(
  { weight: 9, arbitrary: fc.constant({ 'mcp-session-id': '{{session}}' }) },
  { weight: 1, arbitrary: fc.constantFrom({ 'mcp-session-id': 'unknown' }, {}) },
);

// Each process has one session for all cases: a session with a call has a browser.
const sessions = new Map<string, string>();

/** MCP over HTTP. */
export const browserMcp: Target<HttpCase, BrowserMcpScene> = {
  name: 'browser-mcp',
  about: 'the MCP server of the browser tool over HTTP',
  scene: 'browser-mcp',
  shortCases: 40,
  async cases(scene) {
    const request = fc
      .record({
        id: fc.oneof(fc.nat(), fc.string()),
        message: fc.oneof(fc.constantFrom(...MESSAGES), ...(await callsOf(scene))),
      })
      .map(({ id, message }) => ({ jsonrpc: '2.0', id, ...message }));
    const others = fc.oneof(
      fc.constantFrom(...WITHOUT_ID).map((message) => ({ jsonrpc: '2.0', ...message })),
      fc.nat().map((id) => ({ jsonrpc: '2.0', id, result: {} })),
    );
    const message = fc.oneof({ weight: 4, arbitrary: request }, { weight: 1, arbitrary: others });
    const batch = fc
      .array(jsonText(message), { maxLength: 8 })
      .map((texts) => `[${texts.join(',')}]`);
    return httpCases({
      path: fc.constant(ENDPOINT),
      headers: withCredential(
        ['browser_token'],
        fc.tuple(session, headers).map(([id, odd]) => ({ ...HEADERS, ...id, ...odd })),
      ),
      body: onTheWire(
        fc.oneof({ weight: 4, arbitrary: hostileText(message) }, { weight: 1, arbitrary: batch }),
      ),
    });
  },
  async run(each, scene) {
    const values = { ...scene.values, session: await sharedSession(scene) };
    const answer = await sendCase(each, scene.url, values, {
      // The stream for messages of the server ends with the session.
      headersOnly: each.method === 'GET',
    });
    if (each.method === 'DELETE' || answer.status === 404) sessions.delete(scene.url);
    return checkCase(each, answer, scene.url, scene);
  },
};

/** Calls of each tool, from the schemas that the server publishes. */
async function callsOf(scene: BrowserMcpScene): Promise<readonly fc.Arbitrary<object>[]> {
  const response = await post(scene, { method: 'tools/list' }, await sharedSession(scene));
  const text = await response.text();
  const { result } = JSON.parse(text.slice(text.indexOf('{'))) as {
    readonly result: {
      readonly tools: readonly { readonly name: string; readonly inputSchema: Schema }[];
    };
  };
  return result.tools.map(({ name, inputSchema }) =>
    fromSchema(quick(inputSchema), FIELDS).map((given) => ({
      method: 'tools/call',
      params: { name, arguments: given, _meta: { progressToken: 1 } },
    })),
  );
}

/** Tools wait for pages; a case must not. */
function quick(schema: Schema): Schema {
  const { properties = {}, required = [] } = schema;
  if (properties['timeoutMs'] === undefined) return schema;
  return {
    ...schema,
    properties: { ...properties, timeoutMs: { const: 200 } },
    required: [...required, 'timeoutMs'],
  };
}

/** The id of the session that cases share; starts it if there is none. */
async function sharedSession(scene: BrowserMcpScene): Promise<string> {
  const known = sessions.get(scene.url);
  if (known !== undefined) return known;
  const response = await post(scene, INITIALIZE);
  await response.text();
  const id = response.headers.get('mcp-session-id') ?? 'none';
  sessions.set(scene.url, id);
  return id;
}

const post = (scene: BrowserMcpScene, message: object, id?: string): Promise<Response> =>
  fetch(`${scene.url}${ENDPOINT}`, {
    method: 'POST',
    headers: {
      ...HEADERS,
      authorization: `Bearer ${scene.values['browser_token']}`,
      ...(id === undefined ? {} : { 'mcp-session-id': id }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...message }),
  });
