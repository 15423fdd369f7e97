import { rpcCall } from '@model-gateway/testkit';
import {
  startChatUpstream,
  startEngine,
  startOllamaServer,
  type RunningChatUpstream,
  type RunningEngine,
  type RunningOllamaServer,
} from '@model-gateway/testkit/upstreams';
import { startBothSurfaces, type BothSurfaces } from './both-surfaces.ts';

let surfaces: BothSurfaces;
let external: RunningChatUpstream;
let local: RunningOllamaServer;
let engine: RunningEngine;

beforeAll(async () => {
  surfaces = await startBothSurfaces();
  external = await startChatUpstream({ models: ['e'] });
  local = await startOllamaServer({ models: ['l:latest'] });
  engine = await startEngine({ models: ['n'] });
  const register = (type: string, url: string) =>
    surfaces.runtime.router.registry.register({
      name: type,
      type,
      url,
      apiKey: null,
      models: [],
      capabilities: null,
    });
  await register('external', external.url);
  await register('local-server', local.url);
  await register('engine', engine.url);
});
afterAll(async () => {
  await surfaces.test.close();
  await Promise.all([external.close(), local.close(), engine.close()]);
});

/** The bytes of the last request to an upstream. */
const LAST_BODY: Readonly<Record<string, () => string>> = {
  e: () => httpBody(external),
  l: () => httpBody(local),
  n: () => JSON.stringify(engine.frames.findLast(isChat)?.params),
};
const COUNT: Readonly<Record<string, () => number>> = {
  e: () => external.served.length,
  l: () => local.served.length,
  n: () => engine.served.length,
};
const isChat = ({ method }: { readonly method: string }): boolean => method === 'Engine.ChatStart';

function httpBody({ lastRequest }: RunningChatUpstream | RunningOllamaServer): string {
  const text = JSON.stringify(lastRequest?.body);
  // The upstream parses the request; its length shows that nothing was lost.
  expect(Buffer.byteLength(text)).toBe(lastRequest?.bodyBytes);
  return text;
}

async function overRest(model: string, body: string): Promise<string> {
  const response = await surfaces.chat(surfaces.ann, body);
  expect(response.status).toBe(200);
  await response.text();
  return LAST_BODY[model]?.() ?? '';
}

async function overRpc(model: string, params: object): Promise<string> {
  const before = COUNT[model]?.() ?? 0;
  const response = await rpcCall(surfaces.rpcUrl, 'chat.send', params, surfaces.ann.token);
  expect(response.error).toBeUndefined();
  const upstream = { e: external, l: local, n: engine }[model];
  await upstream?.until(() => (COUNT[model]?.() ?? 0) > before);
  return LAST_BODY[model]?.() ?? '';
}

const messages = [
  { role: 'system', content: 'Be brief.' },
  {
    content: [
      { text: 'Grüße 世界 👋🏽', type: 'text' },
      { type: 'text', text: 'again' },
    ],
    role: 'user',
    name: 'ann',
  },
  {
    role: 'assistant',
    content: null,
    tool_calls: [{ id: 'c', type: 'function', function: { name: 'look', arguments: '{}' } }],
  },
  { tool_call_id: 'c', role: 'tool', content: 'seen' },
  { images: ['iVBORw0KGgo='], role: 'user', content: 'And this?' },
];
const tools = [{ function: { parameters: { type: 'object' }, name: 'look' }, type: 'function' }];

const INPUTS = [
  { why: 'only a message', input: { messages: [{ role: 'user', content: 'Hi' }] } },
  {
    why: 'every field',
    input: {
      messages,
      temperature: 0.7,
      max_tokens: 64,
      tools,
      memory: true,
      extra: { seed: 7, top_p: 0.9, user: 'u' },
    },
  },
  {
    why: 'some fields',
    input: { messages, max_tokens: 1, extra: { stop: ['x'] }, provider: undefined },
  },
];

const byName = ([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number =>
  one.localeCompare(other);

describe.each(['e', 'l', 'n'])(
  'the upstream of %s gets the same bytes from both APIs for',
  (model) => {
    test.each(INPUTS)('$why, in any order', async ({ input }) => {
      const sent = await overRpc(model, { model, ...input });
      expect(sent).toContain(`"messages"`);
      const entries = Object.entries({
        ...input,
        model,
        stream: true,
        stream_options: { include_usage: true },
      });
      for (const order of [entries, entries.toReversed(), entries.toSorted(byName)])
        expect(await overRest(model, JSON.stringify(Object.fromEntries(order)))).toBe(sent);
      const { extra, ...others }: { extra?: object } = input;
      // The fields that RPC has in `extra` are top-level fields in REST.
      const spread = { stream: true, ...extra, ...others, model };
      expect(await overRest(model, JSON.stringify(spread))).toBe(sent);
    });
  },
);
