import type { AssistantPart, TurnAnswer, TurnEvent } from '@model-gateway/contracts';
import * as fc from 'fast-check';
import { createChunkReader } from '../chat/read-answer.ts';
import { turnOfChat } from '../chat/read-request.ts';
import { AGENT_REQUEST } from './fixtures/agent-request.ts';
import { STREAMED_EVENTS } from './fixtures/streamed-events.ts';
import { responsesDialect } from './index.ts';
import { completeRequest, responsesRequestSchema, type ResponsesRequest } from './request.ts';
import { responseOfItem } from './item-id.ts';
import { storedItems } from './stored-items.ts';

const read = (body: object): ResponsesRequest => responsesRequestSchema.parse(body);

const completed = (body: object, options: { isStored?: boolean; id?: string } = {}) =>
  completeRequest(read(body), {
    id: 'resp_7',
    createdAt: 5,
    isStored: false,
    previous: [],
    referenced: new Map(),
    ...options,
  });

const hello = { model: 'm', input: 'Hello' };

function answer(parts: readonly AssistantPart[], finish: TurnAnswer['finish'] = 'stop') {
  const usage = { promptTokens: 9, completionTokens: 4, cachedTokens: 3, reasoningTokens: 2 };
  return { id: 'chatcmpl-1', model: 'm', created: 1, parts, finish, usage };
}

test('a request is echoed in the response', () => {
  const response = responsesDialect.writeAnswer(answer([]), completed(AGENT_REQUEST));
  expect(response).toMatchObject({
    id: 'resp_7',
    object: 'response',
    created_at: 5,
    status: 'completed',
    store: false,
    instructions: 'You are an agent.',
    reasoning: { effort: 'low', summary: 'auto' },
    text: { verbosity: 'low', format: { name: 'out' } },
    metadata: { a: 'b' },
    user: 'u1',
    service_tier: 'flex',
    truncation: 'disabled',
    tool_choice: 'auto',
    parallel_tool_calls: false,
    max_output_tokens: 500,
    previous_response_id: null,
    error: null,
    incomplete_details: null,
    usage: {
      input_tokens: 9,
      input_tokens_details: { cached_tokens: 3, cache_write_tokens: 0 },
      output_tokens: 4,
      output_tokens_details: { reasoning_tokens: 2 },
      total_tokens: 13,
    },
  });
  expect(response).toHaveProperty('tools.length', 4);
});

const streamed: readonly TurnEvent[] = [
  { type: 'reasoning', text: 'Hm' },
  { type: 'text', text: 'Hi "' },
  { type: 'text', text: '\u{1F600}' },
  { type: 'tool_call', index: 0, id: 'c1', name: 'files__get' },
  { type: 'tool_arguments', index: 0, text: '{}' },
  { type: 'tool_call', index: 1, id: 'c2', name: 'apply_patch' },
  { type: 'tool_arguments', index: 1, text: '{"input":"*** ' },
  { type: 'tool_arguments', index: 1, text: 'Begin"}' },
  { type: 'finish', reason: 'tool_calls' },
  { type: 'usage', usage: { promptTokens: 9, completionTokens: 4 } },
];

interface StreamEvent {
  readonly type: string;
  readonly sequence_number: number;
  readonly response?: { readonly output: readonly object[]; readonly status: string };
}

const DONE = 'data: [DONE]';

/** The events of a stream; the name of each is on its `event:` line as well. */
function eventsIn(text: string): readonly StreamEvent[] {
  return text
    .split('\n\n')
    .filter((block) => block !== '' && block !== DONE)
    .map((block) => {
      const [name = '', data = ''] = block.split('\n');
      const event = JSON.parse(data.replace('data: ', '')) as StreamEvent;
      expect(name).toBe(`event: ${event.type}`);
      return event;
    });
}

const HEAD = { id: 'x', model: 'm', created: 5, promptTokens: () => 0 };

function write(request: ResponsesRequest, events: readonly TurnEvent[]): string {
  const writer = responsesDialect.writeStream(request);
  return [writer.begin(HEAD), ...events.map((event) => writer.write(event)), writer.end()].join('');
}

test('a stream has the whole sequence of events, and ends with the response', () => {
  const text = write(completed(AGENT_REQUEST), streamed);
  expect(text.endsWith(`\n\n${DONE}\n\n`)).toBe(true);
  const events = eventsIn(text);
  expect(events.map(({ sequence_number: number }) => number)).toEqual(events.map((_, at) => at));
  expect(events.slice(0, 2).map(({ type }) => type)).toEqual([
    'response.created',
    'response.in_progress',
  ]);
  expect(events.slice(2, -1)).toEqual(STREAMED_EVENTS);
  const last = events.at(-1);
  expect(last?.type).toBe('response.completed');
  expect(last?.response?.output).toEqual(
    STREAMED_EVENTS.flatMap((event) =>
      event.type === 'response.output_item.done' ? [event.item] : [],
    ),
  );
});

test.each([
  { reason: 'length' as const, detail: 'max_output_tokens' },
  { reason: 'content_filter' as const, detail: 'content_filter' },
])('an answer that ended by $reason is incomplete', ({ reason, detail }) => {
  const text = write(completed(hello), [
    { type: 'text', text: 'Hi' },
    { type: 'finish', reason },
  ]);
  expect(eventsIn(text).at(-1)).toMatchObject({
    type: 'response.incomplete',
    response: {
      status: 'incomplete',
      incomplete_details: { reason: detail },
      output: [{ status: 'incomplete' }],
    },
  });
});

test('a sign of life is the response so far, also before the answer begins', () => {
  const writer = responsesDialect.writeStream(completed(hello));
  const signs = [writer.alive(), writer.alive(), writer.begin(HEAD)];
  writer.write({ type: 'text', text: 'Hi' });
  const call = { type: 'tool_call', index: 0, id: 'c', name: 'look' } as const;
  signs.push(writer.alive());
  writer.write(call);
  writer.write({ type: 'tool_arguments', index: 0, text: '{"a":' });
  signs.push(writer.alive());
  const events = eventsIn(signs.join(''));
  expect(events.map(({ type }) => type)).toEqual([
    'response.created',
    ...Array.from({ length: 4 }, () => 'response.in_progress'),
  ]);
  const numbers = events.map(({ sequence_number: number }) => number);
  expect(numbers.slice(0, 3)).toEqual([0, 1, 2]);
  expect(numbers).toEqual(numbers.toSorted((one, other) => one - other));
  const [text, both] = events.slice(-2).map(({ response }) => response?.output);
  const message = { type: 'message', content: [{ type: 'output_text', text: 'Hi' }] };
  expect(text).toMatchObject([{ ...message, status: 'in_progress' }]);
  const written = { type: 'function_call', arguments: '{"a":', status: 'in_progress' };
  expect(both).toMatchObject([{ ...message, status: 'completed' }, written]);
});

test('a stream that fails says so in an event and in the response', () => {
  const writer = responsesDialect.writeStream(completed(hello));
  writer.begin(HEAD);
  writer.write({ type: 'text', text: 'Hi' });
  const output = [
    { type: 'message', status: 'incomplete', content: [{ type: 'output_text', text: 'Hi' }] },
  ];
  expect(eventsIn(writer.fail({ message: 'cut off', requestId: 'r' }))).toMatchObject([
    { type: 'error', code: 'server_error', message: 'cut off', param: null },
    {
      type: 'response.failed',
      response: { status: 'failed', error: { code: 'server_error', message: 'cut off' }, output },
    },
  ]);
  expect(writer.fail({ message: 'cut off', requestId: 'r' })).not.toContain(DONE);
  expect(writer.fail({ message: 'slow down', upstreamStatus: 429, requestId: 'r' })).toContain(
    '"code":"rate_limit_exceeded"',
  );
});

test('a refusal is a part of its own', () => {
  const types = eventsIn(
    write(completed(hello), [
      { type: 'text', text: 'Well.' },
      { type: 'refusal', text: 'No.' },
    ]),
  ).map(({ type }) => type);
  expect(types).toContain('response.refusal.delta');
  expect(types).toContain('response.refusal.done');
  expect(types.filter((type) => type === 'response.content_part.added')).toHaveLength(2);
});

/** The answer of a chat upstream, cut anywhere into chunks. */
const pieces = fc.array(fc.string({ minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 5 });

const cited = { url: 'https://cats.example', title: 'Cats', start: 0, end: 4 };
const image = { type: 'data' as const, mediaType: 'image/png', data: 'AAAA' };

test('citations are annotations of the text, and images are items of their own', () => {
  const annotation = {
    type: 'url_citation',
    start_index: 0,
    end_index: 4,
    url: cited.url,
    title: 'Cats',
  };
  const output = [
    {
      type: 'message',
      content: [{ type: 'output_text', text: 'Cats', annotations: [annotation] }],
    },
    { type: 'image_generation_call', status: 'completed', result: 'AAAA' },
  ];
  const parts = [
    { type: 'text' as const, text: 'Cats' },
    { type: 'image' as const, source: image },
  ];
  const whole = { ...answer(parts), citations: [cited] };
  expect(responsesDialect.writeAnswer(whole, completed(hello))).toMatchObject({ output });

  const citation: TurnEvent = { type: 'citation', citation: cited };
  // Some upstreams cite before the text.
  for (const said of [
    [parts[0], citation],
    [citation, parts[0]],
  ]) {
    const given = [...said, parts[1], { type: 'finish', reason: 'stop' }] as readonly TurnEvent[];
    const events = eventsIn(write(completed(hello), given));
    expect(events).toContainEqual(
      expect.objectContaining({
        type: 'response.output_text.annotation.added',
        output_index: 0,
        content_index: 0,
        annotation_index: 0,
        annotation,
      }),
    );
    expect(events.at(-1)?.response).toMatchObject({ output });
    expect(events.map(({ sequence_number: at }) => at)).toEqual([...events.keys()]);
  }
});

test('any chunking of a stream gives the same response', () => {
  const request = completed(AGENT_REQUEST);
  const delta = (value: object) => ({ choices: [{ index: 0, delta: value }] });
  const end = { choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] };
  fc.assert(
    fc.property(pieces, pieces, pieces, (thoughts, texts, inputs) => {
      const call = { index: 0, id: 'c', function: { name: 'apply_patch', arguments: '' } };
      const written = JSON.stringify({ input: inputs.join('') });
      const argue = (text: string) =>
        delta({ tool_calls: [{ index: 0, function: { arguments: text } }] });
      const streamOf = (chunks: readonly object[]) => {
        const readChunk = createChunkReader();
        return eventsIn(
          write(
            request,
            chunks.flatMap((chunk) => readChunk(chunk)),
          ),
        ).at(-1);
      };
      const inPieces = [
        ...thoughts.map((text) => delta({ reasoning_content: text })),
        ...texts.map((content) => delta({ content })),
        delta({ tool_calls: [call] }),
        ...written.split('').map(argue),
        end,
      ];
      const atOnce = [
        delta({ reasoning_content: thoughts.join('') }),
        delta({ content: texts.join('') }),
        delta({ tool_calls: [call] }),
        argue(written),
        end,
      ];
      expect(streamOf(inPieces)?.response).toEqual(streamOf(atOnce)?.response);
    }),
  );
});

const text = fc.string({ minLength: 1 });
const part: fc.Arbitrary<AssistantPart> = fc.oneof(
  fc.record({ type: fc.constant('reasoning' as const), text, signature: text }),
  fc.record({ type: fc.constant('text' as const), text }),
  fc.record({
    type: fc.constant('tool_call' as const),
    id: text,
    name: fc.constantFrom('look', 'files__get'),
    arguments: fc.json(),
  }),
  fc.record({
    type: fc.constant('tool_call' as const),
    id: text,
    name: fc.constant('apply_patch'),
    arguments: text.map((input) => JSON.stringify({ input })),
  }),
);

test('an answer that a client sends back is the same turn', () => {
  const request = completed(AGENT_REQUEST, { isStored: true });
  fc.assert(
    fc.property(fc.uniqueArray(part, { minLength: 1, selector: ({ type }) => type }), (parts) => {
      const { output } = responsesDialect.writeAnswer(answer(parts), request) as {
        output: readonly object[];
      };
      const again = read({ model: 'm', input: [{ role: 'user', content: 'x' }, ...output] });
      const reply = turnOfChat(again.chat).messages[1];
      const order = ['reasoning', 'text', 'tool_call'];
      const sorted = parts.toSorted((a, b) => order.indexOf(a.type) - order.indexOf(b.type));
      expect(reply).toEqual({ role: 'assistant', parts: sorted });
    }),
  );
});

test('a call of the local shell comes back as one', () => {
  const call = { type: 'tool_call' as const, id: 'c', name: 'local_shell' };
  const response = responsesDialect.writeAnswer(
    answer([{ ...call, arguments: '{"command":["ls","-l"],"timeout_ms":5}' }]),
    completed(AGENT_REQUEST),
  );
  expect(response).toMatchObject({
    output: [
      {
        type: 'local_shell_call',
        call_id: 'c',
        status: 'completed',
        action: { type: 'exec', command: ['ls', '-l'], env: {}, timeout_ms: 5 },
      },
    ],
  });
});

test('stored items have ids that name their response', () => {
  const id = `resp_${'0a'.repeat(16)}`;
  const items = storedItems({
    id,
    input: [
      { role: 'user', content: 'x' },
      { type: 'function_call_output', call_id: 'c', output: 'y' },
    ],
  });
  expect(items).toMatchObject([
    { type: 'message', status: 'completed', content: [{ type: 'input_text', text: 'x' }] },
    { type: 'function_call_output' },
  ]);
  for (const item of items) expect(responseOfItem(String(item['id']))).toBe(id);
  expect(responseOfItem('msg_123')).toBeUndefined();
});

test.each([
  {
    facts: {
      status: 400,
      type: 'invalid_request',
      code: 'missing_fields',
      message: "'a.b': no",
      param: 'a.b',
    },
    error: { type: 'invalid_request_error', code: 'invalid_value', param: 'a.b' },
  },
  {
    facts: { status: 400, type: 'invalid', code: 'too_long', message: 'no', param: 'messages' },
    error: { type: 'invalid_request_error', code: 'too_long', param: 'messages' },
  },
  {
    facts: { status: 401, type: 'auth_error', code: 'unauthorized', message: 'no' },
    error: { type: 'invalid_request_error', code: 'invalid_api_key', param: null },
  },
  {
    facts: { status: 429, type: 'quota_error', code: 'quota_exceeded', message: 'no' },
    error: { type: 'insufficient_quota', code: 'insufficient_quota' },
  },
  {
    facts: { status: 429, type: 'tokens', code: 'upstream_limit', message: 'no' },
    error: { type: 'tokens', code: 'upstream_limit' },
  },
  {
    facts: { status: 502, type: 'server_error', code: 'bad_gateway', message: 'no' },
    error: { type: 'server_error', code: 'bad_gateway' },
  },
])('the error $facts.code has the form of the API', ({ facts, error }) => {
  const { status, body } = responsesDialect.writeError({ ...facts, requestId: 'r' });
  expect(status).toBe(facts.status);
  expect(body).toMatchObject({ error: { message: facts.message, ...error } });
});
