import type { UpstreamTurn } from '@model-gateway/contracts';
import { ownTurn, chatTurn, responsesDialect, completeRequest } from '@model-gateway/dialects';
import { systemClock } from '@model-gateway/kernel';
import type { BackendConfig } from '@model-gateway/router';
import { startRecordedServer, type RecordedServer } from '@model-gateway/testkit/upstreams';
import * as fc from 'fast-check';
import { completionIn, readAll, startParts } from '../../tests/read-chunks.ts';
import { createBackend } from '../factory/create-backend.ts';
import { RESPONSE, RESPONSE_EVENTS } from './fixtures/search-response.ts';
import { partsOfResponse } from './responses-answer.ts';

const timeouts = { connectMs: 5_000, idleMs: 30_000, totalMs: 30_000 };
const { signal } = new AbortController();

let server: RecordedServer;
beforeAll(async () => {
  server = await startRecordedServer();
});
afterAll(() => server.close());

const open = (more: Partial<BackendConfig> = {}) =>
  createBackend(
    {
      name: 'up',
      type: 'external',
      url: server.url,
      apiKey: 'the key of the backend',
      models: ['m'],
      capabilities: null,
      dialects: ['responses'],
      ...more,
    },
    { timeouts, clock: systemClock },
  );

/** The turn that a client of the API leads to, with a message that the gateway added. */
function turnOf(body: object): UpstreamTurn {
  const request = completeRequest(responsesDialect.request.parse({ model: 'alias', ...body }), {
    id: 'resp_7',
    createdAt: 5,
    isStored: true,
    previous: [],
    referenced: new Map(),
  });
  const memory = { role: 'system' as const, content: 'The user likes cats.' };
  const chat = () => ({
    ...request.chat,
    messages: [memory, ...request.chat.messages],
    model: 'm',
  });
  return ownTurn(request.own, { model: 'm', added: [memory], chat });
}

const eventText = (events: readonly object[]): string =>
  events.map((event) => `event: x\ndata: ${JSON.stringify(event)}\n\n`).join('');

const streamed = (body: string) => ({ body, type: 'text/event-stream' });

test('a request passes as it was sent, and the answer remembers what the upstream said', async () => {
  server.answer('/responses', { body: JSON.stringify(RESPONSE) });
  const backend = open();
  const turn = turnOf({ input: 'Hi', instructions: 'Search.', tools: [{ type: 'web_search' }] });
  const answer = await backend.chat?.(turn, signal);
  expect(server.requests.at(-1)?.url).toBe('/v1/responses');
  expect(server.requests.at(-1)?.body).toEqual({
    model: 'm',
    instructions: 'Search.',
    tools: [{ type: 'web_search' }],
    store: false,
    stream: false,
    input: [
      {
        type: 'message',
        role: 'system',
        content: [{ type: 'input_text', text: 'The user likes cats.' }],
      },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi' }] },
    ],
  });
  expect(completionIn(answer)).toMatchObject({
    id: RESPONSE.id,
    model: RESPONSE.model,
    choices: [
      {
        message: {
          content: 'Cats purr.',
          reasoning_content: 'Hm.',
          tool_calls: [{ id: 'c1', function: { name: 'look', arguments: '{"a":1}' } }],
        },
        finish_reason: 'tool_calls',
      },
    ],
    usage: {
      prompt_tokens: 9,
      completion_tokens: 4,
      total_tokens: 13,
      prompt_tokens_details: { cached_tokens: 3 },
      completion_tokens_details: { reasoning_tokens: 2 },
    },
  });
  expect(answer).toMatchObject({ own: { api: 'responses', value: RESPONSE } });
  await backend.close();
});

test('clients of other APIs get there by chat completions', async () => {
  server.answer('/chat/completions', { body: '{"choices":[]}' });
  const backend = open();
  await backend.chat?.(chatTurn({ model: 'm', messages: [] }), signal);
  expect(server.requests.at(-1)?.url).toBe('/v1/chat/completions');
  await backend.close();
});

test('the API of Azure has its own path, without a version', async () => {
  server.answer('/responses', { body: JSON.stringify(RESPONSE) });
  const backend = open({ type: 'azure' });
  await backend.chat?.(turnOf({ input: 'Hi' }), signal);
  expect(server.requests.at(-1)?.url).toBe('/openai/v1/responses');
  await backend.close();
});

test('each event is a part that has it as it came, whatever pieces it arrives in', async () => {
  const text = Buffer.from(eventText(RESPONSE_EVENTS));
  const readIn = async (size: number) => {
    async function* pieces() {
      for (let at = 0; at < text.length; at += size) yield text.subarray(at, at + size);
    }
    return readAll(partsOfResponse(pieces(), null, text.length));
  };
  const whole = await readIn(text.length);
  expect(whole.map(({ own }) => own?.value)).toEqual(RESPONSE_EVENTS);
  const said = whole.flatMap(({ events }) => events);
  expect(said).toContainEqual({ type: 'text', text: 'Cats ' });
  expect(said.at(-1)).toMatchObject({ usage: { promptTokens: 9, completionTokens: 4 } });
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 200 }), async (size) => {
      expect(await readIn(size)).toEqual(whole);
    }),
    { numRuns: 10 },
  );
});

const [created = {}, , item = {}] = RESPONSE_EVENTS;
const failed = {
  type: 'response.failed',
  response: {
    ...RESPONSE,
    status: 'failed',
    error: { code: 'server_error', message: 'no: the key of the backend' },
  },
};

test.each([
  {
    why: 'a failure before the model began',
    events: [created, failed],
    error: { message: 'no: [redacted]', isBackendAtFault: true },
  },
  {
    why: 'a rate limit',
    events: [created, { type: 'error', code: 'rate_limit_exceeded', message: 'slow' }],
    error: {
      message: 'slow',
      isBackendAtFault: true,
      isRateLimit: true,
      upstream: { status: 429, code: 'rate_limit_exceeded', message: 'slow' },
    },
  },
  {
    why: 'an error about the request',
    events: [{ type: 'error', error: { code: 'invalid_prompt', message: 'bad' } }],
    error: { message: 'bad', isBackendAtFault: false, upstream: { status: 400 } },
  },
  { why: 'no event of the API', events: [{ choices: [] }], error: { isBackendAtFault: true } },
])('$why rejects before anything is sent to the client', async ({ events, error }) => {
  server.answer('/responses', streamed(eventText(events)));
  const backend = open();
  const begun = backend.chatStream?.(turnOf({ input: 'Hi' }), signal);
  await expect(begun).rejects.toMatchObject(error);
  await backend.close();
});

test.each([
  {
    why: 'fails',
    end: [failed],
    types: ['response.failed'],
    message: 'no: [redacted]',
    tokens: [expect.objectContaining({ promptTokens: 9, completionTokens: 4 })],
  },
  {
    why: 'ends early',
    end: [],
    types: [],
    message: 'before the answer was complete',
    tokens: [],
  },
])('a stream that $why later passes what came before', async ({ end, types, message, tokens }) => {
  server.answer('/responses', streamed(eventText([created, item, ...end])));
  const backend = open();
  const parts = await startParts(backend, turnOf({ input: 'Hi' }), signal);
  const passed: unknown[] = [];
  const usages: unknown[] = [];
  const reading = (async () => {
    for await (const { own, events } of parts) {
      passed.push(own?.value['type']);
      for (const event of events) if (event.type === 'usage') usages.push(event.usage);
    }
  })();
  await expect(reading).rejects.toThrow(message);
  expect(passed).toEqual(['response.created', 'response.output_item.added', ...types]);
  expect(usages).toEqual(tokens);
  await backend.close();
});

test('a whole answer to a request for a stream becomes a part without events of the API', async () => {
  server.answer('/responses', { body: JSON.stringify(RESPONSE) });
  const backend = open();
  const parts = await readAll(await startParts(backend, turnOf({ input: 'Hi' }), signal));
  expect(parts.every(({ own }) => own === undefined)).toBe(true);
  expect(JSON.stringify(parts)).toContain('Cats purr.');
  await backend.close();
});
