import { readFileSync } from 'node:fs';
import { createChunkReader, messagesDialect } from '@model-gateway/dialects';
import { systemClock } from '@model-gateway/kernel';
import type { Backend, UpstreamStream } from '@model-gateway/router';
import { startRecordedServer, type RecordedServer } from '@model-gateway/testkit/upstreams';
import * as fc from 'fast-check';
import { createBackend } from '../factory/create-backend.ts';
import { chunksOfMessage } from './from-upstream.ts';

const fixture = (name: string): string =>
  readFileSync(new URL(`fixtures/${name}`, import.meta.url), 'utf8');
const timeouts = { connectMs: 5_000, idleMs: 30_000, totalMs: 30_000 };
const signal = new AbortController().signal;
const context = { model: 'claude', clock: systemClock, secret: 'the key' };

let server: RecordedServer;
let backend: Backend;
beforeAll(async () => {
  server = await startRecordedServer();
  const config = { name: 'a', type: 'anthropic', url: server.url, apiKey: 'the key' };
  backend = createBackend(
    { ...config, models: [], capabilities: null },
    { timeouts, clock: systemClock },
  );
  server.answer('/v1/messages', { body: fixture('message.json') });
});
afterAll(async () => {
  await backend.close();
  await server.close();
});

const sentBody = (): unknown => server.requests.at(-1)?.body;
const tool = (name: string) => ({
  type: 'function',
  function: { name, description: 'Looks.', parameters: { type: 'object' } },
});
const schema = { type: 'object', properties: { a: { type: 'string' } } };
const user = { role: 'user', content: 'Hi' };

test('what a chat client marks for the cache is marked in the request', async () => {
  const cache_control = { type: 'ephemeral', ttl: '1h' };
  const text = (words: string, mark = {}) => ({ type: 'text', text: words, ...mark });
  await backend.chat?.(
    {
      model: 'claude',
      tools: [tool('go'), { ...tool('look'), cache_control }],
      messages: [
        { role: 'system', content: [text('Be brief.'), text('A book', { cache_control })] },
        { role: 'user', content: 'Hi', cache_control },
        { role: 'assistant', content: [text('Looking.', { cache_control })] },
        { role: 'tool', tool_call_id: 't1', content: [text('a cat', { cache_control })] },
        {
          role: 'user',
          content: [{ type: 'image_url', image_url: { url: 'https://a.b/c' }, cache_control }],
        },
      ],
    },
    signal,
  );
  expect(sentBody()).toMatchObject({
    system: [text('Be brief.'), text('A book', { cache_control })],
    tools: [{ name: 'go' }, { name: 'look', cache_control }],
    messages: [
      { role: 'user', content: [text('Hi', { cache_control })] },
      { role: 'assistant', content: [text('Looking.', { cache_control })] },
      {
        role: 'user',
        content: [
          { type: 'tool_result', content: [text('a cat')], cache_control },
          { type: 'image', cache_control },
        ],
      },
    ],
  });
  expect(JSON.stringify(sentBody()).match(/cache_control/g)).toHaveLength(6);
});

test('a chat body becomes a request of the API, with its headers', async () => {
  await backend.chat?.(
    {
      model: 'claude',
      temperature: 1.5,
      stop: 'END',
      user: 'u1',
      tools: [tool('look'), { type: 'function', function: { name: 'go' } }],
      tool_choice: 'required',
      parallel_tool_calls: false,
      response_format: { type: 'json_schema', json_schema: { name: 'x', schema } },
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'developer', content: 'And kind.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'See' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
            { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
            {
              type: 'file',
              file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,BBBB' },
            },
          ],
        },
        {
          role: 'assistant',
          content: 'Looking.',
          reasoning_details: [{ type: 'reasoning.text', text: 'Hm', signature: 's' }],
          tool_calls: [
            { id: 't1', type: 'function', function: { name: 'look', arguments: '{"a":1}' } },
            { id: 't2', type: 'function', function: { name: 'go', arguments: '' } },
          ],
        },
        { role: 'tool', tool_call_id: 't1', content: 'a cat' },
        { role: 'tool', tool_call_id: 't2', content: 'gone' },
        { role: 'user', content: 'And now?' },
      ],
    },
    signal,
  );
  expect(server.requests.at(-1)).toMatchObject({
    method: 'POST',
    url: '/v1/messages',
    headers: { 'x-api-key': 'the key', 'anthropic-version': '2023-06-01' },
  });
  expect(sentBody()).toEqual({
    model: 'claude',
    max_tokens: 8192,
    stream: false,
    temperature: 1,
    stop_sequences: ['END'],
    metadata: { user_id: 'u1' },
    system: 'Be brief.\n\nAnd kind.',
    tools: [
      { name: 'look', description: 'Looks.', input_schema: { type: 'object' } },
      { name: 'go', input_schema: { type: 'object', properties: {} } },
    ],
    tool_choice: { type: 'any', disable_parallel_tool_use: true },
    output_config: { format: { type: 'json_schema', schema } },
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'See' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
          { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
          {
            type: 'document',
            title: 'a.pdf',
            source: { type: 'base64', media_type: 'application/pdf', data: 'BBBB' },
          },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Hm', signature: 's' },
          { type: 'text', text: 'Looking.' },
          { type: 'tool_use', id: 't1', name: 'look', input: { a: 1 } },
          { type: 'tool_use', id: 't2', name: 'go', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 't1', content: [{ type: 'text', text: 'a cat' }] },
          { type: 'tool_result', tool_use_id: 't2', content: [{ type: 'text', text: 'gone' }] },
          { type: 'text', text: 'And now?' },
        ],
      },
    ],
  });
});

test.each([
  { asked: { reasoning_effort: 'none' }, sent: { thinking: { type: 'disabled' }, temperature: 0 } },
  {
    asked: { reasoning_effort: 'minimal' },
    sent: { thinking: { type: 'adaptive' }, output_config: { effort: 'low' } },
  },
  {
    asked: { reasoning: { max_tokens: 99_999 }, max_tokens: 3_000 },
    sent: { thinking: { type: 'enabled', budget_tokens: 2_999 }, max_tokens: 3_000 },
  },
])('reasoning $asked', async ({ asked, sent }) => {
  await backend.chat?.({ model: 'claude', messages: [user], temperature: 0, ...asked }, signal);
  expect(sentBody()).toEqual({
    model: 'claude',
    max_tokens: 8192,
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
    stream: false,
    ...sent,
  });
});

test.each([
  { named: 'n', asked: { n: 2 } },
  { named: 'logprobs', asked: { logprobs: true } },
  {
    named: 'input_audio',
    asked: {
      messages: [
        {
          role: 'user',
          content: [{ type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }],
        },
      ],
    },
  },
])('$named is refused by name', async ({ named, asked }) => {
  const call = backend.chat?.({ model: 'claude', messages: [user], ...asked }, signal);
  await expect(call).rejects.toThrow(named);
});

test('a request of the same API arrives as the client sent it', async () => {
  const cached = { type: 'text', text: 'Long.', cache_control: { type: 'ephemeral' } };
  const body = {
    model: 'alias',
    max_tokens: 99,
    system: [cached],
    thinking: { type: 'enabled', budget_tokens: 2_000 },
    context_management: { edits: [] },
    tools: [{ type: 'web_search_20250305', name: 'web_search' }],
    messages: [
      { role: 'user', content: [{ ...cached, citations: null }] },
      { role: 'assistant', content: [{ type: 'thinking', thinking: 'Hm', signature: 's' }] },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 't',
            content: 'a',
            cache_control: { type: 'ephemeral' },
          },
          { type: 'text', text: 'Go on.' },
        ],
      },
    ],
    conversation_id: null,
  };
  const { chat } = messagesDialect.request.parse(body);
  const memory = { role: 'system' as const, content: 'Remember the cat.' };
  await backend.chat?.({ ...chat, messages: [memory, ...chat.messages], model: 'claude' }, signal);
  const { conversation_id: _own, ...sent } = body;
  expect(sentBody()).toEqual({
    ...sent,
    model: 'claude',
    system: [cached, { type: 'text', text: 'Remember the cat.' }],
    stream: false,
  });
});

const usage = {
  prompt_tokens: 1250,
  completion_tokens: 89,
  total_tokens: 1339,
  prompt_tokens_details: { cached_tokens: 1000, cache_write_tokens: 200 },
};

test('an answer becomes a completion', async () => {
  const answer = await backend.chat?.({ model: 'claude', messages: [user] }, signal);
  expect(answer?.completion).toMatchObject({
    id: 'chatcmpl-msg_01XFDUDYJgAACzvnptvVoYEL',
    model: 'claude-sonnet-4-5-20250929',
    choices: [
      {
        message: {
          role: 'assistant',
          content: "I'll check the weather.",
          reasoning_content: 'The user wants the weather.',
          reasoning_details: [
            {
              type: 'reasoning.text',
              text: 'The user wants the weather.',
              signature: 'EqQBCgIYAhIM',
            },
            { type: 'reasoning.encrypted', data: 'EmwKAhgBEgy3' },
          ],
          tool_calls: [
            {
              id: 'toolu_01A09q90qw90lq917835lq9',
              function: { name: 'get_weather', arguments: '{"location":"Rome, Italy"}' },
            },
          ],
        },
        finish_reason: 'tool_calls',
      },
    ],
    usage,
  });
});

const EVENTS = [
  { type: 'reasoning', text: 'The user wants the weather.' },
  { type: 'reasoning', text: '', signature: 'EqQBCgIYAhIM' },
  { type: 'text', text: "I'll check – " },
  { type: 'text', text: 'the weather.' },
  { type: 'tool_call', index: 0, id: 'toolu_01', name: 'get_weather' },
  { type: 'tool_arguments', index: 0, text: '{"location":' },
  { type: 'tool_arguments', index: 0, text: ' "Rome"}' },
  { type: 'tool_call', index: 1, id: 'toolu_02', name: 'get_time' },
  { type: 'tool_arguments', index: 1, text: '{}' },
  { type: 'finish', reason: 'tool_calls' },
  {
    type: 'usage',
    usage: {
      promptTokens: 1250,
      completionTokens: 89,
      cachedTokens: 1000,
      cacheWriteTokens: 200,
    },
  },
];

async function eventsOf(chunks: AsyncIterable<unknown>) {
  const read = createChunkReader();
  const events: unknown[] = [];
  for await (const chunk of chunks) events.push(...read(chunk));
  return events;
}

test('any cut of a stream gives the same events', async () => {
  const bytes = Buffer.from(fixture('stream.txt'));
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(bytes.length)), async (cuts) => {
      const at = [0, ...cuts.toSorted((a, b) => a - b), bytes.length];
      const parts = at.slice(1).map((end, position) => bytes.subarray(at[position], end));
      expect(await eventsOf(chunksOfMessage(streamOf(parts), context))).toEqual(EVENTS);
    }),
    { numRuns: 30 },
  );
});

async function* streamOf(parts: readonly Buffer[]) {
  yield* parts;
}

const chunksIn = (stream: UpstreamStream | undefined) =>
  stream?.form === 'chunks' ? stream.chunks : streamOf([]);

test('a stream over the wire', async () => {
  server.answer('/v1/messages', { type: 'text/event-stream', body: fixture('stream.txt') });
  const stream = await backend.chatStream?.({ model: 'claude', messages: [user] }, signal);
  expect(await eventsOf(chunksIn(stream))).toEqual(EVENTS);
  expect(sentBody()).toMatchObject({ stream: true });
});

test('a stream that is cut off or has an error does not look complete', async () => {
  const whole = fixture('stream.txt');
  const cut = Buffer.from(whole.slice(0, whole.indexOf('event: message_delta')));
  await expect(eventsOf(chunksOfMessage(streamOf([cut]), context))).rejects.toThrow('before');
  const error =
    '\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n';
  const failed = chunksOfMessage(streamOf([cut, Buffer.from(error)]), context);
  const chunks: unknown[] = [];
  for await (const chunk of failed) chunks.push(chunk);
  expect(chunks.at(-1)).toEqual({ error: { message: 'Overloaded' } });
});

test('an error keeps its status and message', async () => {
  const error = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
  server.answer('/v1/messages', { status: 529, body: JSON.stringify(error) });
  const call = backend.chatStream?.({ model: 'claude', messages: [user] }, signal);
  await expect(call).rejects.toMatchObject({ status: 529 });
});

test('it is probed by its listing', async () => {
  server.answer('/v1/models', {
    body: JSON.stringify({ data: [{ type: 'model', id: 'claude', display_name: 'Claude' }] }),
  });
  await expect(backend.probe(signal)).resolves.toMatchObject({
    state: 'Healthy',
    models: ['claude'],
  });
  server.answer('/v1/models', { status: 401, body: '{}' });
  await expect(backend.probe(signal)).resolves.toMatchObject({ state: 'Degraded' });
});
