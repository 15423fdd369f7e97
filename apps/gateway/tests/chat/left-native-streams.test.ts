import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createGate } from '@model-gateway/testkit';
import { registerBackend, startGateway, type GatewayUnderTest } from '../gateway.ts';
import { takeUsage } from '../money/usage-journal.ts';

const SAID = 'exactly twenty chars';
const messageItem = { id: 'msg_1', type: 'message', role: 'assistant', content: [] };

/** The beginning of a stream in the API of each kind, and what it has reported by then. */
const KINDS = {
  anthropic: {
    registration: { type: 'anthropic' },
    events: [
      {
        type: 'message_start',
        message: {
          id: 'msg_1',
          model: 'm',
          usage: {
            input_tokens: 9,
            cache_read_input_tokens: 1000,
            cache_creation_input_tokens: 50,
            output_tokens: 1,
          },
        },
      },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: SAID } },
    ],
    row: {
      prompt_tokens: 1059,
      cached_tokens: 1000,
      cache_write_tokens: 50,
      completion_tokens: 5,
    },
  },
  gemini: {
    registration: { type: 'gemini' },
    events: [
      {
        candidates: [{ content: { parts: [{ text: SAID }] } }],
        usageMetadata: {
          promptTokenCount: 1059,
          cachedContentTokenCount: 1000,
          candidatesTokenCount: 4,
          thoughtsTokenCount: 300,
        },
      },
    ],
    row: { prompt_tokens: 1059, cached_tokens: 1000, completion_tokens: 304 },
  },
  responses: {
    registration: { type: 'external', dialects: ['responses'] },
    events: [
      { type: 'response.created', response: { id: 'resp_1', output: [] } },
      { type: 'response.output_item.added', output_index: 0, item: messageItem },
      { type: 'response.output_text.delta', item_id: 'msg_1', output_index: 0, delta: SAID },
    ],
    row: { completion_tokens: 5 },
  },
};
type Kind = keyof typeof KINDS;

const CLIENTS = {
  chat: { path: '/v1/chat/completions', body: {} },
  messages: { path: '/v1/messages', body: { max_tokens: 9 } },
  responses: { path: '/v1/responses', body: { store: false } },
};
const ask = [{ role: 'user', content: 'Hello!' }];

let gateway: GatewayUnderTest;
let upstream: Server;
let begun: ServerResponse | undefined;

beforeAll(async () => {
  gateway = await startGateway({ SERVICE_API_RATE_LIMIT_RPM: '100000' });
  upstream = createServer((request, response) => {
    const kind = (request.url ?? '').split('/')[1] as Kind;
    request.resume();
    if (request.method === 'GET') {
      response.writeHead(404).end('{}');
      return;
    }
    begun = response;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of KINDS[kind].events) response.write(`data: ${JSON.stringify(event)}\n\n`);
  });
  upstream.listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  const { port } = upstream.address() as AddressInfo;
  for (const kind of Object.keys(KINDS) as Kind[]) {
    const url = `http://127.0.0.1:${port}/${kind}/v1`;
    const { registration } = KINDS[kind];
    await registerBackend(gateway, { name: kind, url, models: [kind], ...registration });
  }
});
afterAll(async () => {
  await gateway.test.close();
  upstream.closeAllConnections();
  upstream.close();
});

const ROWS: readonly { readonly kind: Kind; readonly client: keyof typeof CLIENTS }[] = [
  { kind: 'anthropic', client: 'chat' },
  { kind: 'anthropic', client: 'messages' },
  { kind: 'anthropic', client: 'responses' },
  { kind: 'gemini', client: 'chat' },
  { kind: 'gemini', client: 'messages' },
  { kind: 'gemini', client: 'responses' },
  { kind: 'responses', client: 'responses' },
];

test.each(ROWS)(
  'a client of $client that leaves a stream of $kind ends its call, and pays for what it got',
  async ({ kind, client }) => {
    const { path, body } = CLIENTS[client];
    const hangUp = new AbortController();
    const response = await fetch(`${gateway.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}` },
      body: JSON.stringify({ model: kind, messages: ask, input: ask, stream: true, ...body }),
      signal: hangUp.signal,
    });
    const decoder = new TextDecoder();
    let received = '';
    for await (const part of response.body ?? []) {
      received += decoder.decode(part as Uint8Array, { stream: true });
      if (received.includes(SAID)) break;
    }
    const ended = createGate();
    begun?.once('close', () => ended.open());
    hangUp.abort();
    await ended.opened;
    const [row] = await takeUsage(gateway.test.context.bus.journal, 1);
    expect(row).toMatchObject({ model: kind, ...KINDS[kind].row });
    // Clients add up the usage of all chunks.
    expect(received).not.toMatch(/"usage":\{"prompt_tokens"/);
  },
);
