import { readFileSync } from 'node:fs';
import type { TurnEvent } from '@model-gateway/contracts';
import { chatTurn, completionOf } from '@model-gateway/dialects';
import { systemClock } from '@model-gateway/kernel';
import type { Backend } from '@model-gateway/router';
import { startRecordedServer, type RecordedServer } from '@model-gateway/testkit/upstreams';
import * as fc from 'fast-check';
import { createBackend } from '../factory/create-backend.ts';
import { answerOfMessage } from './messages-answer.ts';
import { partsOfMessage } from './message-parts.ts';
import { completionIn, eventsOf, readAll, startParts } from '../../tests/read-chunks.ts';

const fixture = (name: string): string =>
  readFileSync(new URL(`fixtures/${name}`, import.meta.url), 'utf8');
const timeouts = { connectMs: 5_000, idleMs: 30_000, totalMs: 30_000 };
const signal = new AbortController().signal;
const context = { model: 'claude', clock: systemClock };
const secret = 'the key';

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
const user = { role: 'user', content: 'Hi' };

const usage = {
  prompt_tokens: 1250,
  completion_tokens: 89,
  total_tokens: 1339,
  prompt_tokens_details: { cached_tokens: 1000, cache_write_tokens: 200 },
};

test('an answer becomes a completion', async () => {
  const answer = await backend.chat?.(chatTurn({ model: 'claude', messages: [user] }), signal);
  expect(completionIn(answer)).toMatchObject({
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

test('the text that stopped an answer is kept, whole and streamed', async () => {
  const stopped = { stop_reason: 'stop_sequence', stop_sequence: 'END' };
  const whole = { content: [{ type: 'text', text: 'Hi' }], ...stopped };
  expect(completionOf(answerOfMessage(whole, context)).choices).toMatchObject([
    { finish_reason: 'stop', stop_sequence: 'END' },
  ]);
  const events = [
    { type: 'message_start', message: {} },
    { type: 'message_delta', delta: stopped, usage: { output_tokens: 1 } },
    { type: 'message_stop' },
  ];
  const bytes = Buffer.from(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));
  expect(await eventsOf(partsOfMessage(streamOf([bytes]), secret))).toContainEqual({
    type: 'finish',
    reason: 'stop',
    stopSequence: 'END',
  });
});

test('citations of pages are annotations, whole and streamed', async () => {
  const page = { type: 'web_search_result_location', url: 'https://cats.example', title: 'Cats' };
  const document = { type: 'char_location', document_index: 0, cited_text: 'purr' };
  const content = [
    { type: 'text', text: 'Yes: ' },
    { type: 'text', text: 'cats purr', citations: [page, document] },
    { type: 'text', text: '.' },
  ];
  const citation = { url: 'https://cats.example', title: 'Cats', start: 5, end: 14 };
  const whole = answerOfMessage({ content, stop_reason: 'end_turn' }, context);
  expect(whole.citations).toEqual([citation]);
  const events = [
    { type: 'message_start', message: {} },
    ...content.flatMap(({ text, citations = [] }, index) => [
      { type: 'content_block_start', index, content_block: { type: 'text', text: '' } },
      ...citations.map((cited) => ({
        type: 'content_block_delta',
        index,
        delta: { type: 'citations_delta', citation: cited },
      })),
      { type: 'content_block_delta', index, delta: { type: 'text_delta', text } },
      { type: 'content_block_stop', index },
    ]),
    { type: 'message_delta', delta: { stop_reason: 'end_turn' } },
    { type: 'message_stop' },
  ];
  const bytes = Buffer.from(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));
  expect(saidIn(await eventsOf(partsOfMessage(streamOf([bytes]), secret)))).toEqual([
    { type: 'text', text: 'Yes: ' },
    { type: 'text', text: 'cats purr' },
    { type: 'citation', citation },
    { type: 'text', text: '.' },
    { type: 'finish', reason: 'stop' },
  ]);
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

/** Without the empty text with which a message begins. */
const saidIn = (events: readonly TurnEvent[]) =>
  events.filter((event) => event.type !== 'text' || event.text !== '');

test('any cut of a stream gives the same events', async () => {
  const bytes = Buffer.from(fixture('stream.txt'));
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(bytes.length)), async (cuts) => {
      const at = [0, ...cuts.toSorted((a, b) => a - b), bytes.length];
      const parts = at.slice(1).map((end, position) => bytes.subarray(at[position], end));
      expect(saidIn(await eventsOf(partsOfMessage(streamOf(parts), secret)))).toEqual(EVENTS);
    }),
    { numRuns: 30 },
  );
});

async function* streamOf(parts: readonly Buffer[]) {
  yield* parts;
}

test('a stream over the wire', async () => {
  server.answer('/v1/messages', { type: 'text/event-stream', body: fixture('stream.txt') });
  const turn = chatTurn({ model: 'claude', messages: [user] });
  const parts = await readAll(await startParts(backend, turn, signal));
  expect(saidIn(parts.flatMap(({ events }) => events))).toEqual(EVENTS);
  const events = fixture('stream.txt').match(/^event: /gm) ?? [];
  expect(parts.filter(({ own }) => own?.api === 'messages')).toHaveLength(events.length);
  expect(sentBody()).toMatchObject({ stream: true });
});

test('a stream that is cut off or has an error does not look complete', async () => {
  const whole = fixture('stream.txt');
  const cut = Buffer.from(whole.slice(0, whole.indexOf('event: message_delta')));
  await expect(eventsOf(partsOfMessage(streamOf([cut]), secret))).rejects.toThrow('before');
  const failing = (type: string) => {
    const event = { type: 'error', error: { type, message: 'Overloaded' } };
    const data = Buffer.from(`\ndata: ${JSON.stringify(event)}\n\n`);
    return partsOfMessage(streamOf([cut, data]), secret);
  };
  await expect(eventsOf(failing('overloaded_error'))).rejects.toMatchObject({
    status: 529,
    message: 'upstream 529: Overloaded',
  });
  await expect(eventsOf(failing('new_error'))).rejects.toMatchObject({
    message: 'Overloaded',
    isBackendAtFault: true,
    loggedAs: 'the upstream sent an error in the middle of its answer',
  });
});

test('the usage is known when it is reported, which is before the end of the stream', async () => {
  const whole = fixture('stream.txt');
  const cut = Buffer.from(whole.slice(0, whole.indexOf('event: message_stop')));
  const known: unknown[] = [];
  const reading = (async () => {
    for await (const { usageSoFar } of partsOfMessage(streamOf([cut]), secret))
      known.push(usageSoFar);
  })();
  await expect(reading).rejects.toThrow('before');
  expect(known.at(-1)).toMatchObject({
    promptTokens: 1250,
    completionTokens: 89,
    cachedTokens: 1000,
    cacheWriteTokens: 200,
  });
});

test('an error keeps its status and message', async () => {
  const error = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
  server.answer('/v1/messages', { status: 529, body: JSON.stringify(error) });
  const call = backend.chatStream?.(chatTurn({ model: 'claude', messages: [user] }), signal);
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
