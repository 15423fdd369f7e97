import * as fc from 'fast-check';
import { startGateway, type GatewayUnderTest } from '../gateway.ts';
import { chatClient } from '../matrix/clients/chat.ts';
import { messagesClient } from '../matrix/clients/messages.ts';
import { responsesClient } from '../matrix/clients/responses.ts';
import type { Fields, ModelAnswer } from '../matrix/facts.ts';
import type { ClientName } from '../matrix/features.ts';
import { KINDS, type Kind } from '../matrix/kinds.ts';
import { registerKind } from '../matrix/register-kind.ts';
import { anthropicApi } from '../matrix/upstreams/anthropic-api.ts';
import { chatApi } from '../matrix/upstreams/chat-api.ts';
import type { MatrixUpstream, WireServer } from '../matrix/upstreams/wire-server.ts';
import { anyObject, exact, holds, written } from './exact-json.ts';

// Each number that passes through the gateway is written as it came, in whatever API and to whatever kind of backend.

const CLIENTS = { chat: chatClient, responses: responsesClient, messages: messagesClient };
const CLIENT_NAMES = Object.keys(CLIENTS) as ClientName[];
const KIND_NAMES = Object.keys(KINDS) as Kind[];
const RUNS = { numRuns: 4, seed: 47 };

let gateway: GatewayUnderTest;
const upstreams = new Map<Kind, MatrixUpstream>();

beforeAll(async () => {
  gateway = await startGateway({
    SERVICE_API_RATE_LIMIT_RPM: '100000',
    SERVICE_BREAKER_FAILURES: '100000',
    SERVICE_MAX_BODY_BYTES: '1000000',
  });
  for (const kind of KIND_NAMES) {
    const upstream = await KINDS[kind].start();
    upstreams.set(kind, upstream);
    await registerKind(gateway, kind, upstream);
  }
});
afterAll(async () => {
  await gateway.test.close();
  await Promise.all([...upstreams.values()].map((upstream) => upstream.close()));
});

function upstreamOf(kind: Kind): MatrixUpstream {
  const upstream = upstreams.get(kind);
  if (upstream === undefined) throw new Error(`no upstream of the kind ${kind}`);
  return upstream;
}

/** An upstream that speaks HTTP. */
const wireOf = (kind: Kind): WireServer => upstreamOf(kind) as WireServer;

/** What the upstream was sent last. */
const sentTo = (kind: Kind): unknown => exact(upstreamOf(kind).lastText());

async function post(path: string, body: Fields): Promise<string> {
  const response = await fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${gateway.key}` },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${response.status}: ${text}`);
  return text;
}

/** A whole answer, or the events of a stream with the arguments that came in pieces. */
function answered(text: string): unknown {
  if (text.startsWith('{')) return exact(text);
  const events = text
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => exact(line.slice('data: '.length)));
  const pieces: string[] = [];
  const collect = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [name, part] of Object.entries(value)) {
      const isPiece = name === 'arguments' || name === 'partial_json';
      if (isPiece && typeof part === 'string') pieces.push(part);
      else collect(part);
    }
  };
  for (const event of events) collect(event);
  return [events, pieces.join('')];
}

const calling = (given: object): ModelAnswer => ({
  calls: [{ id: 'call_1', name: 'look', arguments: given }],
  finish: 'tool_calls',
  usage: { prompt: 20, completion: 12 },
});
const TOOL = { name: 'look', description: 'Looks.' };
const HELLO = [{ role: 'user', text: 'Hello!' }] as const;

/** How each API says that the model called a tool. */
const HISTORIES: Readonly<Record<ClientName, (given: object) => readonly Fields[]>> = {
  chat: (given) => [
    {
      role: 'assistant',
      content: null,
      tool_calls: [
        {
          id: 'call_1',
          type: 'function',
          function: { name: 'look', arguments: JSON.stringify(given) },
        },
      ],
    },
    { role: 'tool', tool_call_id: 'call_1', content: 'seen' },
  ],
  responses: (given) => [
    { type: 'function_call', call_id: 'call_1', name: 'look', arguments: JSON.stringify(given) },
    { type: 'function_call_output', call_id: 'call_1', output: 'seen' },
  ],
  messages: (given) => [
    {
      role: 'assistant',
      content: [{ type: 'tool_use', id: 'call_1', name: 'look', input: given }],
    },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', content: 'seen' }] },
  ],
};
const turnsOf: Readonly<Record<ClientName, string>> = {
  chat: 'messages',
  responses: 'input',
  messages: 'messages',
};

const CELLS = CLIENT_NAMES.flatMap((client) =>
  KIND_NAMES.flatMap((kind) => [false, true].map((stream) => ({ client, kind, stream }))),
);

test.each(CELLS)(
  'schemas, histories and arguments of tools: $client to $kind, streamed: $stream',
  async ({ client, kind, stream }) => {
    const api = CLIENTS[client];
    const property = fc.asyncProperty(
      anyObject,
      anyObject,
      anyObject,
      async (schema, earlier, given) => {
        const parameters = {
          type: 'object',
          properties: { a: { type: 'number' } },
          enum: [schema],
        };
        const asked = api.write({ messages: HELLO, tools: [{ ...TOOL, parameters }] });
        const name = turnsOf[client];
        const turns = [...(asked[name] as readonly Fields[]), ...HISTORIES[client](earlier)];
        const sampling = { temperature: written('0.50'), top_p: written('0.10') };
        const body = { ...asked, ...sampling, [name]: turns, model: 'm', stream };
        upstreamOf(kind).answer(calling(given), { stream });
        const text = await post(api.path, { ...body, provider: { only: [kind] } });
        const sent = sentTo(kind);
        for (const part of [schema, earlier])
          expect([JSON.stringify(sent), holds(sent, exact(JSON.stringify(part)))]).toContain(true);
        expect(holds(sent, '#0.50') && holds(sent, '#0.10')).toBe(true);
        const got = answered(text);
        expect([text, holds(got, exact(JSON.stringify(given)))]).toContain(true);
      },
    );
    await fc.assert(property, RUNS);
  },
);

/** The kinds that are sent each API as it came, and an answer in which unknown fields come back. */
const PASSING: readonly { readonly client: ClientName; readonly kind: Kind }[] = [
  { client: 'chat', kind: 'external' },
  { client: 'chat', kind: 'azure' },
  { client: 'chat', kind: 'agent' },
  { client: 'messages', kind: 'anthropic' },
];
const SEED = { seed: written('9223372036854775807') };

test.each(PASSING.flatMap((one) => [false, true].map((stream) => ({ ...one, stream }))))(
  'unknown fields of requests and answers: $client to $kind, streamed: $stream',
  async ({ client, kind, stream }) => {
    const api = CLIENTS[client];
    const property = fc.asyncProperty(anyObject, anyObject, async (field, more) => {
      const asked = api.write({ messages: HELLO });
      const body =
        client === 'chat'
          ? { ...asked, unknown: field, ...SEED }
          : {
              ...asked,
              messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi', field }] }],
            };
      const upstream = client === 'chat' ? chatApi : anthropicApi;
      const said: ModelAnswer = {
        text: 'Hi!',
        finish: 'stop',
        usage: { prompt: 2, completion: 3 },
      };
      const whole = { ...upstream.whole(said), more };
      const response = stream
        ? withMore(upstream.stream(said), more)
        : { type: 'application/json', text: JSON.stringify(whole) };
      wireOf(kind).respond({ status: 200, ...response });
      const text = await post(api.path, {
        ...body,
        model: 'm',
        stream,
        provider: { only: [kind] },
      });
      const sent = sentTo(kind);
      expect([JSON.stringify(sent), holds(sent, exact(JSON.stringify(field)))]).toContain(true);
      expect([text, holds(answered(text), exact(JSON.stringify(more)))]).toContain(true);
      expect(client !== 'chat' || holds(sent, '#9223372036854775807')).toBe(true);
    });
    await fc.assert(property, RUNS);
  },
);

/** The events, each with a further field. */
const withMore = (
  { type, text }: { readonly type: string; readonly text: string },
  more: object,
): { readonly type: string; readonly text: string } => ({
  type,
  text: text.replaceAll('data: {', `data: {"more":${JSON.stringify(more)},`),
});
