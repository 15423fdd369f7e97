import Anthropic from '@anthropic-ai/sdk';
import { startRecordedServer, type RecordedServer } from '@model-gateway/testkit/upstreams';
import { registerBackend, startGateway, type GatewayUnderTest } from '../gateway.ts';
import { takeUsage } from '../money/usage-journal.ts';

let gateway: GatewayUnderTest;
let upstream: RecordedServer;

beforeAll(async () => {
  gateway = await startGateway({ SERVICE_API_RATE_LIMIT_RPM: '100000' });
  upstream = await startRecordedServer();
  upstream.answer('/v1/models', { body: JSON.stringify({ data: [{ id: 'claude' }] }) });
  await registerBackend(gateway, { type: 'anthropic', name: 'up', url: upstream.url });
});
afterAll(async () => {
  await gateway.test.close();
  await upstream.close();
});

const client = () => new Anthropic({ baseURL: gateway.url, apiKey: gateway.key, maxRetries: 0 });
const hello = {
  model: 'claude',
  max_tokens: 100,
  messages: [{ role: 'user' as const, content: 'Hi' }],
};
const usage = {
  input_tokens: 12,
  cache_creation_input_tokens: 4,
  cache_read_input_tokens: 8,
  output_tokens: 30,
  cache_creation: { ephemeral_5m_input_tokens: 4, ephemeral_1h_input_tokens: 0 },
  service_tier: 'standard',
};
// What chat completions cannot say: thoughts between other blocks, citations, the reason of the end.
const message = {
  id: 'msg_01',
  type: 'message',
  role: 'assistant',
  model: 'claude-4',
  content: [
    { type: 'thinking', thinking: 'First.', signature: 'c2ln' },
    {
      type: 'text',
      text: 'As the book says.',
      citations: [{ type: 'char_location', cited_text: 'so', document_index: 0 }],
    },
    { type: 'thinking', thinking: 'Second.', signature: 'c2lnMg==' },
    { type: 'tool_use', id: 'toolu_1', name: 'look', input: { at: 'Rome' } },
  ],
  stop_reason: 'model_context_window_exceeded',
  stop_sequence: null,
  usage,
};
const start = {
  type: 'message_start',
  message: { ...message, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } },
};
const citation = message.content[1]?.citations?.[0];
const EVENTS = [
  start,
  { type: 'ping' },
  {
    type: 'content_block_start',
    index: 0,
    content_block: { type: 'text', text: '', citations: [] },
  },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Größe' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'citations_delta', citation } },
  { type: 'content_block_stop', index: 0 },
  {
    type: 'message_delta',
    delta: { stop_reason: 'end_turn', stop_sequence: null },
    usage: { output_tokens: 30 },
  },
  { type: 'message_stop' },
];
const streamed = (events: readonly object[]) => ({
  type: 'text/event-stream',
  body: events
    .map((event) => `event: ${Reflect.get(event, 'type')}\ndata: ${JSON.stringify(event)}\n\n`)
    .join(''),
});
const metered = { prompt_tokens: 24, completion_tokens: 30, cached_tokens: 8 };

test('a message passes as it is, and is metered', async () => {
  upstream.answer('/v1/messages', { body: JSON.stringify(message) });
  await expect(client().messages.create(hello)).resolves.toEqual(message);
  await expect(takeUsage(gateway.test.context.bus.journal, 1)).resolves.toMatchObject([metered]);
});

test('the events of a stream pass as they are, and are metered', async () => {
  upstream.answer('/v1/messages', streamed(EVENTS));
  const events: unknown[] = [];
  for await (const event of await client().messages.create({ ...hello, stream: true }))
    events.push(event);
  expect(events).toEqual(EVENTS.filter(({ type }) => type !== 'ping'));
  await expect(takeUsage(gateway.test.context.bus.journal, 1)).resolves.toMatchObject([metered]);
});

test('the usage that an upstream does not report is estimated and shown', async () => {
  const { usage: _usage, ...unmetered } = message;
  upstream.answer('/v1/messages', { body: JSON.stringify(unmetered) });
  const answer = await client().messages.create(hello);
  expect(answer.usage.output_tokens).toBeGreaterThan(0);
  const bare = EVENTS.map((event) =>
    event.type === 'message_start'
      ? { ...start, message: { id: 'msg_02', model: 'claude-4' } }
      : event.type === 'message_delta'
        ? { type: event.type, delta: { stop_reason: 'end_turn' } }
        : event,
  );
  upstream.answer('/v1/messages', streamed(bare));
  const joined = await client().messages.stream(hello).finalMessage();
  expect(joined).toMatchObject({ id: 'msg_02', role: 'assistant', stop_reason: 'end_turn' });
  expect(joined.usage.output_tokens).toBeGreaterThan(0);
  const rows = await takeUsage(gateway.test.context.bus.journal, 2);
  expect(rows.map((row) => row.completion_tokens)).toEqual([
    answer.usage.output_tokens,
    joined.usage.output_tokens,
  ]);
});

test('what is left out of the request is named, and nothing else', async () => {
  upstream.answer('/v1/messages', { body: JSON.stringify(message) });
  const response = await fetch(`${gateway.url}/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': gateway.key, 'anthropic-beta': 'context-1m' },
    body: JSON.stringify({
      ...hello,
      context_management: { edits: [] },
      messages: [
        {
          role: 'user',
          content: [
            {
              type: 'document',
              source: { type: 'text', media_type: 'text/plain', data: 'so' },
              citations: { enabled: true },
            },
          ],
        },
      ],
    }),
  });
  expect(response.headers.get('x-service-ignored')).toBe(
    'context_management, anthropic-beta.context-1m',
  );
  await takeUsage(gateway.test.context.bus.journal, 1);
});

test('tools that the API defines and the client runs reach the upstream; others that it defines do not', async () => {
  upstream.answer('/v1/messages', { body: JSON.stringify(message) });
  const bash = { type: 'bash_20250124', name: 'bash' };
  const editor = { type: 'text_editor_20250728', name: 'edit', max_characters: 9000 };
  const search = { type: 'web_search_20250305', name: 'web_search' };
  const send = (fields: object) =>
    fetch(`${gateway.url}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': gateway.key },
      body: JSON.stringify({ ...hello, ...fields }),
    });
  const response = await send({ tools: [bash, editor, search], tool_choice: { type: 'auto' } });
  expect(response.headers.get('x-service-ignored')).toBe('web_search_20250305');
  expect(upstream.requests.at(-1)).toMatchObject({
    body: { tools: [bash, editor], tool_choice: { type: 'auto' } },
  });
  await takeUsage(gateway.test.context.bus.journal, 1);
  const demanded = await send({ tools: [bash], tool_choice: { type: 'tool', name: 'bash' } });
  expect(await demanded.json()).toMatchObject({
    error: {
      message:
        "tool_choice demands the tool 'bash', which only the provider of this API defines; offer a function tool instead",
    },
  });
});

test('a stream that breaks off ends with an error', async () => {
  const error = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
  upstream.answer('/v1/messages', streamed([...EVENTS.slice(0, 4), error]));
  const stream = client().messages.stream(hello);
  await expect(stream.finalMessage()).rejects.toMatchObject({
    error: { error: { type: 'overloaded_error', message: expect.stringContaining('Overloaded') } },
  });
  await takeUsage(gateway.test.context.bus.journal, 1);
});
