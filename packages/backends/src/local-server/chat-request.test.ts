import { localChat } from './chat-request.ts';

const user = { role: 'user', content: 'hello' };
const chat = (body: Readonly<Record<string, unknown>>, stream = false): unknown =>
  localChat({ model: 'llama3.2:latest', messages: [user], ...body }, { stream });

test('a plain chat is passed on as it is', () => {
  expect(chat({}, true)).toEqual({ model: 'llama3.2:latest', messages: [user], stream: true });
});

test('settings of the convention become options, and those of the server stay', () => {
  expect(
    chat({
      temperature: 0,
      max_tokens: 5,
      top_p: 0.9,
      seed: 7,
      stop: 'END',
      presence_penalty: null,
      options: { num_ctx: 8192, temperature: 2 },
      keep_alive: '5m',
      stream_options: { include_usage: true },
    }),
  ).toMatchObject({
    options: { num_ctx: 8192, temperature: 0, num_predict: 5, top_p: 0.9, seed: 7, stop: ['END'] },
    keep_alive: '5m',
  });
});

test.each([
  [{ max_tokens: 5, max_completion_tokens: 9 }, { options: { num_predict: 9 } }],
  [{ stop: ['a', 'b'] }, { options: { stop: ['a', 'b'] } }],
  [{ options: 'none' }, {}],
  [{ response_format: { type: 'json_object' } }, { format: 'json' }],
  [{ response_format: { type: 'text' } }, {}],
  [
    { response_format: { type: 'json_schema', json_schema: { schema: { type: 'object' } } } },
    { format: { type: 'object' } },
  ],
  [{ reasoning_effort: 'high' }, { think: 'high' }],
  [{ reasoning_effort: 'minimal' }, { think: 'low' }],
  [{ reasoning_effort: 'xhigh' }, { think: 'high' }],
  [{ reasoning_effort: 'none' }, { think: false }],
  [
    { tools: [1], tool_choice: 'auto' },
    { tools: [1], tool_choice: 'auto' },
  ],
  [{ tools: [1], tool_choice: 'none' }, { tool_choice: 'none' }],
])('%j is said as %j', (given, said) => {
  expect(chat(given)).toEqual({
    model: 'llama3.2:latest',
    messages: [user],
    stream: false,
    ...said,
  });
});

test('calls of the older form and their results are those of tools', () => {
  const messages = [
    user,
    { role: 'assistant', content: null, function_call: { name: 'look', arguments: '{"at":1}' } },
    { role: 'function', name: 'look', content: 'a cat' },
  ];
  expect(chat({ messages })).toMatchObject({
    messages: [
      user,
      { role: 'assistant', tool_calls: [{ function: { name: 'look', arguments: { at: 1 } } }] },
      { role: 'tool', tool_name: 'look', content: 'a cat' },
    ],
  });
});

test('content parts become a text and images', () => {
  const content = [
    { type: 'text', text: 'what is' },
    { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
    { type: 'text', text: 'this?' },
  ];
  expect(chat({ messages: [{ role: 'user', content }] })).toMatchObject({
    messages: [{ role: 'user', content: 'what is\nthis?', images: ['AAAA'] }],
  });
});

test('images of every accepted form become bare base64', () => {
  const images = [
    'AAAA',
    'data:image/jpeg;base64,BBBB',
    { data: 'CCCC', media_type: 'image/png' },
    { data_base64: 'DDDD', mime_type: 'image/png' },
    { data: 'data:image/webp;base64,EEEE' },
  ];
  expect(chat({ messages: [{ ...user, images }] })).toMatchObject({
    messages: [{ images: ['AAAA', 'BBBB', 'CCCC', 'DDDD', 'EEEE'] }],
  });
});

test('a turn with tools goes in with arguments as objects and the names of the answers', () => {
  const call = {
    id: 'call_1',
    type: 'function',
    function: { name: 'look', arguments: '{"at":1}' },
  };
  const bare = { id: 'call_2', type: 'function', function: { name: 'wait', arguments: '' } };
  const messages = [
    { role: 'developer', content: 'be brief' },
    { role: 'assistant', content: null, tool_calls: [call, bare], reasoning_content: 'hm' },
    { role: 'tool', tool_call_id: 'call_1', content: 'a cat' },
    { role: 'tool', tool_call_id: 'other', content: '' },
  ];
  expect(chat({ messages })).toMatchObject({
    messages: [
      { role: 'system', content: 'be brief' },
      {
        role: 'assistant',
        content: '',
        thinking: 'hm',
        tool_calls: [
          { id: 'call_1', function: { name: 'look', arguments: { at: 1 } } },
          { id: 'call_2', function: { name: 'wait', arguments: {} } },
        ],
      },
      { role: 'tool', tool_name: 'look', tool_call_id: 'call_1', content: 'a cat' },
      { role: 'tool', tool_call_id: 'other', content: '' },
    ],
  });
});

test.each([
  { why: 'an image on the web', messages: [{ ...user, images: ['https://host/cat.png'] }] },
  { why: 'an image that is none', messages: [{ ...user, images: [7] }] },
  { why: 'a sound', messages: [{ role: 'user', content: [{ type: 'input_audio' }] }] },
  {
    why: 'arguments that are not JSON',
    messages: [{ role: 'assistant', tool_calls: [{ function: { name: 'x', arguments: '{' } }] }],
  },
])('$why is refused', ({ messages }) => {
  expect(() => chat({ messages })).toThrow(expect.objectContaining({ code: 'invalid_request' }));
});
