import type { ToolChoice, Turn, TurnEvent, TurnMessage } from '@model-gateway/contracts';
import * as fc from 'fast-check';
import { answerOfChat, chatUsage, createChunkReader } from './read-answer.ts';
import { chatOfTurn } from './write-request.ts';
import { turnOfChat } from './read-request.ts';

const text = fc.string({ minLength: 1 }).map((value) => ({ type: 'text' as const, text: value }));
const image = fc.oneof(
  fc.webUrl().map((url) => ({ type: 'image' as const, source: { type: 'url' as const, url } })),
  fc.base64String({ minLength: 4 }).map((data) => ({
    type: 'image' as const,
    source: { type: 'data' as const, mediaType: 'image/webp', data },
    detail: 'low' as const,
  })),
);
const file = fc.base64String({ minLength: 4 }).map((data) => ({
  type: 'file' as const,
  source: { type: 'data' as const, mediaType: 'application/pdf', data },
  name: 'a.pdf',
}));
const audio = fc.constant({ type: 'audio' as const, data: 'AAAA', format: 'wav' });
const call = fc.record({
  type: fc.constant('tool_call' as const),
  id: fc.string({ minLength: 1 }),
  name: fc.string({ minLength: 1 }),
  arguments: fc.json(),
});
const thought = fc
  .string({ minLength: 1 })
  .map((value) => ({ type: 'reasoning' as const, text: value }));
const optional = <Value>(arbitrary: fc.Arbitrary<Value>) =>
  fc.option(arbitrary, { nil: undefined });

const message: fc.Arbitrary<TurnMessage> = fc.oneof(
  text.map((part) => ({ role: 'system' as const, parts: [part] })),
  text.map((part) => ({ role: 'user' as const, parts: [part] })),
  fc.tuple(text, fc.oneof(image, file, audio)).map((parts) => ({ role: 'user' as const, parts })),
  fc
    .tuple(fc.array(thought, { maxLength: 1 }), fc.array(text, { maxLength: 1 }), fc.array(call))
    .map((parts) => ({ role: 'assistant' as const, parts: parts.flat() })),
  fc.tuple(fc.string(), text).map(([callId, part]) => ({
    role: 'tool' as const,
    callId,
    parts: [part],
  })),
);

const schema = { type: 'object', properties: { a: { type: 'string' } } };
const turns: fc.Arbitrary<Turn> = fc
  .record({
    messages: fc.array(message, { minLength: 1, maxLength: 6 }),
    toolChoice: optional(
      fc.constantFrom<ToolChoice[]>('auto', 'none', 'required', { name: 'look' }),
    ),
    parallelToolCalls: optional(fc.boolean()),
    output: optional(
      fc.constantFrom(
        { type: 'json_object' } as const,
        {
          type: 'json_schema',
          name: 'out',
          schema,
          strict: true,
        } as const,
      ),
    ),
    reasoning: optional(fc.constantFrom('low', 'none').map((effort) => ({ effort }))),
    maxTokens: optional(fc.integer({ min: 1, max: 9_999 })),
    temperature: optional(fc.constantFrom(0, 0.5)),
    stop: optional(fc.array(fc.string({ minLength: 1 }), { minLength: 1 })),
    stream: optional(fc.boolean()),
    further: optional(fc.constant({ seed: 7 })),
  })
  .map((given) => ({
    model: 'm',
    tools: [{ name: 'look', description: 'Looks.', parameters: schema }],
    ...given,
  }));

test('a turn that becomes a chat request and is read again is the same', () => {
  fc.assert(
    fc.property(turns, (turn) => {
      expect(turnOfChat(chatOfTurn(turn))).toEqual(turn);
    }),
  );
});

test('other forms of a chat request say the same', () => {
  const turn = turnOfChat({
    model: 'm',
    functions: [{ name: 'look' }],
    function_call: { name: 'look' },
    max_completion_tokens: 9,
    stop: 'x',
    messages: [
      { role: 'developer', content: [{ type: 'text', text: 'be brief' }] },
      { role: 'user', content: 'see', images: [{ data: 'AA==', media_type: 'image/gif' }] },
      { role: 'assistant', content: null, function_call: { name: 'look', arguments: '{}' } },
      { role: 'function', name: 'look', content: 'a cat' },
      { role: 'assistant', content: null, function_call: { name: 'look', arguments: '{}' } },
      { role: 'function', name: 'look', content: 'a dog' },
    ],
  });
  expect(turn).toEqual({
    model: 'm',
    tools: [{ name: 'look' }],
    toolChoice: { name: 'look' },
    maxTokens: 9,
    stop: ['x'],
    messages: [
      { role: 'system', parts: [{ type: 'text', text: 'be brief' }] },
      {
        role: 'user',
        parts: [
          { type: 'text', text: 'see' },
          { type: 'image', source: { type: 'data', mediaType: 'image/gif', data: 'AA==' } },
        ],
      },
      {
        role: 'assistant',
        parts: [{ type: 'tool_call', id: 'look_2', name: 'look', arguments: '{}' }],
      },
      { role: 'tool', callId: 'look_2', parts: [{ type: 'text', text: 'a cat' }] },
      {
        role: 'assistant',
        parts: [{ type: 'tool_call', id: 'look_4', name: 'look', arguments: '{}' }],
      },
      { role: 'tool', callId: 'look_4', parts: [{ type: 'text', text: 'a dog' }] },
    ],
  });
});

test.each([
  { named: 'messages.0.content.0', body: { messages: [user({ type: 'video' })] } },
  { named: 'tools.0', body: { messages: [], tools: [{ type: 'custom', custom: {} }] } },
])('$named of a kind that a turn cannot express is refused by name', ({ named, body }) => {
  expect(() => turnOfChat({ model: 'm', ...body })).toThrow(named);
});

function user(part: object) {
  return { role: 'user', content: [part] };
}

test('a streamed answer has the same content as the whole one', () => {
  const usage = {
    prompt_tokens: 9,
    completion_tokens: 4,
    prompt_tokens_details: { cached_tokens: 3 },
    completion_tokens_details: { reasoning_tokens: 2 },
  };
  const calls = [{ id: 'c1', type: 'function', function: { name: 'look', arguments: '{"a":1}' } }];
  const annotations = [
    { type: 'url_citation', url_citation: { url: 'u', title: 't', start_index: 0, end_index: 2 } },
    { type: 'of_the_future' },
  ];
  const images = [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }];
  const citation = { url: 'u', title: 't', start: 0, end: 2 };
  const source = { type: 'data', mediaType: 'image/png', data: 'AAAA' };
  const answer = answerOfChat({
    id: 'x',
    model: 'm',
    created: 5,
    choices: [
      {
        message: { content: 'Hi', reasoning_content: 'Hm', annotations, images, tool_calls: calls },
        finish_reason: 'tool_calls',
      },
    ],
    usage,
  });
  const read = createChunkReader();
  const events: TurnEvent[] = [
    delta({ role: 'assistant', content: '' }),
    delta({ reasoning_content: 'Hm' }),
    delta({ content: 'Hi' }),
    delta({ annotations }),
    delta({ images }),
    delta({ tool_calls: [{ index: 0, id: 'c1', function: { name: 'look', arguments: '' } }] }),
    delta({ tool_calls: [{ index: 0, function: { arguments: '{"a"' } }] }),
    delta({ tool_calls: [{ index: 0, function: { arguments: ':1}' } }] }),
    { choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] },
    { choices: [], usage },
  ].flatMap(read);
  expect(events).toEqual([
    { type: 'reasoning', text: 'Hm' },
    { type: 'text', text: 'Hi' },
    { type: 'citation', citation },
    { type: 'image', source },
    { type: 'tool_call', index: 0, id: 'c1', name: 'look' },
    { type: 'tool_arguments', index: 0, text: '{"a"' },
    { type: 'tool_arguments', index: 0, text: ':1}' },
    { type: 'finish', reason: 'tool_calls' },
    { type: 'usage', usage: answer.usage },
  ]);
  expect(answer).toEqual({
    id: 'x',
    model: 'm',
    created: 5,
    parts: [
      { type: 'reasoning', text: 'Hm' },
      { type: 'text', text: 'Hi' },
      { type: 'image', source },
      { type: 'tool_call', id: 'c1', name: 'look', arguments: '{"a":1}' },
    ],
    citations: [citation],
    finish: 'tool_calls',
    usage: { promptTokens: 9, completionTokens: 4, cachedTokens: 3, reasoningTokens: 2 },
  });
  expect(answer.usage && chatUsage(answer.usage)).toEqual({ ...usage, total_tokens: 13 });
});

test('thoughts that are parts of the content, as of Mistral, are reasoning', () => {
  const thinking = [{ type: 'text', text: 'Hm' }, { type: 'reference' }];
  const content = [
    { type: 'thinking', thinking, closed: true },
    { type: 'text', text: 'Hi' },
  ];
  const parts = [
    { type: 'reasoning', text: 'Hm' },
    { type: 'text', text: 'Hi' },
  ];
  expect(answerOfChat({ choices: [{ message: { content } }] })).toMatchObject({ parts });
  expect(content.map((part) => delta({ content: [part] })).flatMap(createChunkReader())).toEqual(
    parts,
  );
});

test('calls that an upstream gives the same index, or none, stay apart', () => {
  const one = { id: 'c1', function: { name: 'look', arguments: '{"a"' } };
  const rest = { function: { arguments: ':1}' } };
  const other = { id: 'c2', function: { name: 'find', arguments: '{}' } };
  const expected = [
    { type: 'tool_call', index: 0, id: 'c1', name: 'look' },
    { type: 'tool_arguments', index: 0, text: '{"a"' },
    { type: 'tool_arguments', index: 0, text: ':1}' },
    { type: 'tool_call', index: 1, id: 'c2', name: 'find' },
    { type: 'tool_arguments', index: 1, text: '{}' },
  ];
  for (const place of [{}, { index: 0 }]) {
    const calls = [one, rest, other].map((piece) =>
      delta({ tool_calls: [{ ...place, ...piece }] }),
    );
    expect(calls.flatMap(createChunkReader())).toEqual(expected);
  }
  // Some repeat the id and the name in every piece.
  const repeated = [
    one,
    { ...one, ...rest },
    { ...one, function: { name: 'look', arguments: '' } },
  ];
  const events = repeated
    .map((piece) => delta({ tool_calls: [{ index: 0, ...piece }] }))
    .flatMap(createChunkReader());
  expect(events).toEqual(expected.slice(0, 3));
});

test('calls without an id get one that no other answer has', () => {
  const unnamed = (name: string) => ({ id: '', function: { name, arguments: '{}' } });
  const streamed = () =>
    [unnamed('look'), unnamed('find')]
      .map((given) => delta({ tool_calls: [given] }))
      .flatMap(createChunkReader());
  const whole = () =>
    answerOfChat({ choices: [{ message: { tool_calls: [unnamed('look'), { function: {} }] } }] })
      .parts;
  const ids = [...streamed(), ...streamed(), ...whole(), ...whole()].flatMap((part) =>
    part.type === 'tool_call' ? [part.id] : [],
  );
  expect(ids).toHaveLength(8);
  expect(new Set(ids).size).toBe(8);
  for (const id of ids) expect(id).toMatch(/^call_[\w-]{16}$/);
});

const delta = (value: object) => ({ choices: [{ index: 0, delta: value, finish_reason: null }] });

test.each(['auto', 'required'] as const)(
  'of tools that are allowed, others are not offered: %s',
  (mode) => {
    const named = (name: string) => ({ type: 'function', function: { name } });
    const choice = { type: 'allowed_tools', allowed_tools: { mode, tools: [named('b')] } };
    const body = { model: 'm', messages: [], tools: [named('a'), named('b')], tool_choice: choice };
    expect(turnOfChat(body)).toMatchObject({ tools: [{ name: 'b' }], toolChoice: mode });
  },
);
