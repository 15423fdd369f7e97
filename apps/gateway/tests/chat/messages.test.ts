import Anthropic, { AuthenticationError, BadRequestError, NotFoundError } from '@anthropic-ai/sdk';
import { registerBackend, startGateway, type GatewayUnderTest } from '../gateway.ts';
import { startRecordingUpstream, type RecordingUpstream } from '../routing/recording-upstream.ts';
import { takeUsage } from '../money/usage-journal.ts';

let gateway: GatewayUnderTest;
let upstream: RecordingUpstream;

beforeAll(async () => {
  gateway = await startGateway({ SERVICE_API_RATE_LIMIT_RPM: '100000' });
  upstream = await startRecordingUpstream();
  await registerBackend(gateway, { type: 'external', name: 'up', url: upstream.url });
});
afterAll(async () => {
  await gateway.test.close();
  await upstream.close();
});

const client = (apiKey = gateway.key) =>
  new Anthropic({ baseURL: gateway.url, apiKey, maxRetries: 0 });

const weather: Anthropic.Tool = {
  name: 'weather',
  description: 'Tells the weather.',
  input_schema: { type: 'object', properties: { place: { type: 'string' } } },
};
// The types of the client omit it.
const sampling = { temperature: 0.5 };
const usage = {
  prompt_tokens: 20,
  completion_tokens: 5,
  total_tokens: 25,
  prompt_tokens_details: { cached_tokens: 8 },
};
const call = { id: 'c1', type: 'function', function: { name: 'weather', arguments: '' } };
const delta = (fields: object, finish: string | null = null) => ({
  id: 'x',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta: fields, finish_reason: finish }],
});

test('a round of a tool, with all that a request can say', async () => {
  upstream.answer({
    id: 'chatcmpl-1',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          reasoning_content: 'I look it up.',
          content: 'One moment.',
          tool_calls: [{ ...call, function: { name: 'weather', arguments: '{"place":"Rome"}' } }],
        },
        finish_reason: 'tool_calls',
      },
    ],
    usage,
  });
  const answer = await client().messages.create({
    model: 'm',
    max_tokens: 100,
    system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
    stop_sequences: ['END'],
    ...sampling,
    thinking: { type: 'enabled', budget_tokens: 2_000 },
    metadata: { user_id: 'u1' },
    tools: [weather],
    tool_choice: { type: 'tool', name: 'weather', disable_parallel_tool_use: true },
    messages: [
      {
        role: 'user',
        content: [
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
          { type: 'text', text: 'What is here?' },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Hm', signature: 's' },
          { type: 'tool_use', id: 't1', name: 'weather', input: { place: 'Oslo' } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 't1', content: [{ type: 'text', text: 'rain' }] },
          { type: 'text', text: 'And Rome?' },
        ],
      },
    ],
  });
  expect(upstream.bodies.at(-1)).toEqual({
    model: 'm',
    max_tokens: 100,
    temperature: 0.5,
    stop: ['END'],
    user: 'u1',
    reasoning_effort: 'low',
    parallel_tool_calls: false,
    tool_choice: { type: 'function', function: { name: 'weather' } },
    tools: [
      {
        type: 'function',
        function: {
          name: 'weather',
          description: 'Tells the weather.',
          parameters: weather.input_schema,
        },
      },
    ],
    messages: [
      { role: 'system', content: 'Be brief.' },
      {
        role: 'user',
        content: [
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
          { type: 'text', text: 'What is here?' },
        ],
      },
      {
        role: 'assistant',
        content: null,
        reasoning_content: 'Hm',
        reasoning_details: [{ type: 'reasoning.text', text: 'Hm', signature: 's' }],
        tool_calls: [
          {
            id: 't1',
            type: 'function',
            function: { name: 'weather', arguments: '{"place":"Oslo"}' },
          },
        ],
      },
      { role: 'tool', tool_call_id: 't1', content: 'rain' },
      { role: 'user', content: 'And Rome?' },
    ],
  });
  expect(answer).toMatchObject({
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    content: [
      { type: 'thinking', thinking: 'I look it up.' },
      { type: 'text', text: 'One moment.' },
      { type: 'tool_use', id: 'c1', name: 'weather', input: { place: 'Rome' } },
    ],
    stop_reason: 'tool_use',
    usage: { input_tokens: 12, cache_read_input_tokens: 8, output_tokens: 5 },
  });
  const [row] = await takeUsage(gateway.test.context.bus.journal, 1);
  expect(row).toMatchObject({ model: 'm', prompt_tokens: 20, completion_tokens: 5 });
});

test('a stream has the blocks of the whole answer, also of two tools at once', async () => {
  upstream.stream([
    delta({ role: 'assistant', content: '' }),
    delta({ reasoning_content: 'Hm' }),
    delta({ content: 'Two' }),
    delta({ content: ' places.' }),
    delta({ tool_calls: [{ index: 0, ...call }] }),
    delta({ tool_calls: [{ index: 1, ...call, id: 'c2' }] }),
    delta({ tool_calls: [{ index: 1, function: { arguments: '{"place":' } }] }),
    delta({ tool_calls: [{ index: 0, function: { arguments: '{"place":"Rome"}' } }] }),
    delta({ tool_calls: [{ index: 1, function: { arguments: '"Oslo"}' } }] }),
    delta({}, 'tool_calls'),
    { id: 'x', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [], usage },
  ]);
  const stream = client().messages.stream({
    model: 'm',
    max_tokens: 100,
    tools: [weather],
    messages: [{ role: 'user', content: 'Rome and Oslo?' }],
  });
  const types: string[] = [];
  let begun = 0;
  stream.on('streamEvent', (event) => {
    types.push(event.type);
    if (event.type === 'message_start') begun = event.message.usage.input_tokens;
  });
  const message = await stream.finalMessage();
  expect(message).toMatchObject({
    content: [
      { type: 'thinking', thinking: 'Hm' },
      { type: 'text', text: 'Two places.' },
      { type: 'tool_use', id: 'c1', input: { place: 'Rome' } },
      { type: 'tool_use', id: 'c2', input: { place: 'Oslo' } },
    ],
    stop_reason: 'tool_use',
    usage: { input_tokens: 12, cache_read_input_tokens: 8, output_tokens: 5 },
  });
  expect(types[0]).toBe('message_start');
  // An estimate, since the count comes at the end.
  expect(begun).toBeGreaterThan(0);
  expect(types.slice(-2)).toEqual(['message_delta', 'message_stop']);
  const [row] = await takeUsage(gateway.test.context.bus.journal, 1);
  expect(row).toMatchObject({ prompt_tokens: 20, completion_tokens: 5 });
});

const hello = { model: 'm', max_tokens: 9, messages: [{ role: 'user' as const, content: 'Hi' }] };
const plain = (content: string, finish = 'stop') => ({
  id: 'x',
  choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: finish }],
});

test.each([
  { finish: 'length', reason: 'max_tokens' },
  { finish: 'content_filter', reason: 'refusal' },
  { finish: 'stop', reason: 'end_turn' },
])('$finish of a chat is $reason', async ({ finish, reason }) => {
  upstream.answer(plain('Hello', finish));
  await expect(client().messages.create(hello)).resolves.toMatchObject({ stop_reason: reason });
  await takeUsage(gateway.test.context.bus.journal, 1);
});

test.each([
  { finish: 'stop', stopped: { stop_reason: 'stop_sequence', stop_sequence: 'END' } },
  { finish: 'length', stopped: { stop_reason: 'max_tokens', stop_sequence: null } },
])('the text that stopped an answer is named: $finish', async ({ finish, stopped }) => {
  const whole = plain('Hello', finish).choices.map((choice) => ({
    ...choice,
    stop_sequence: 'END',
  }));
  upstream.answer({ id: 'x', choices: whole });
  await expect(client().messages.create(hello)).resolves.toMatchObject(stopped);
  const last = delta({}, finish);
  upstream.stream([
    delta({ content: 'Hello' }),
    { ...last, choices: last.choices.map((choice) => ({ ...choice, stop_sequence: 'END' })) },
  ]);
  await expect(client().messages.stream(hello).finalMessage()).resolves.toMatchObject(stopped);
  await takeUsage(gateway.test.context.bus.journal, 2);
});

function post(path: string, body: object, headers: Record<string, string> = {}) {
  return fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: { 'x-api-key': gateway.key, ...headers },
    body: JSON.stringify(body),
  });
}

test('what a client sends by habit is left out and named', async () => {
  upstream.answer(plain('Hello'));
  const body = {
    ...hello,
    context_management: { edits: [] },
    'größe\n': 1,
    tools: [
      { type: 'web_search_20250305', name: 'web_search' },
      { ...weather, defer_loading: true },
    ],
    output_config: { effort: 'max' },
    messages: [{ role: 'system', content: 'Be kind.' }, ...hello.messages],
  };
  const flags = { 'anthropic-beta': 'context-1m-2025, ,other' };
  const response = await post('/v1/messages?beta=true', body, flags);
  expect(response.status).toBe(200);
  expect(response.headers.get('x-service-ignored')).toBe(
    'web_search_20250305, tools.defer_loading, context_management, gr??e?, anthropic-beta.context-1m-2025, anthropic-beta.other',
  );
  expect(upstream.bodies.at(-1)).toMatchObject({
    reasoning_effort: 'high',
    tools: [{ function: { name: 'weather' } }],
    messages: [{ role: 'system', content: 'Be kind.' }, { role: 'user' }],
  });
  await takeUsage(gateway.test.context.bus.journal, 1);
});

test('the format of an answer may be where earlier versions of the API have it', async () => {
  upstream.answer(plain('{}'));
  const schema = { type: 'object', properties: {} };
  const response = await post('/v1/messages', {
    ...hello,
    output_config: { effort: 'low' },
    output_format: { type: 'json_schema', schema },
  });
  expect(response.headers.get('x-service-ignored')).toBeNull();
  expect(upstream.bodies.at(-1)).toMatchObject({
    reasoning_effort: 'low',
    response_format: { type: 'json_schema', json_schema: { schema } },
  });
  await takeUsage(gateway.test.context.bus.journal, 1);
});

test('what chat completions cannot say about a block is named', async () => {
  upstream.answer(plain('Hello'));
  const source = { type: 'text', media_type: 'text/plain', data: 'A book' };
  const document = { type: 'document', source };
  const result = { type: 'tool_result', tool_use_id: 't1' };
  const ask = (content: readonly object[]) =>
    post('/v1/messages', {
      ...hello,
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'look', input: {} }] },
        { role: 'user', content },
      ],
    });
  const lost = await ask([
    { ...result, is_error: true, content: [{ ...document, context: 'From 1900.' }] },
    { ...document, citations: { enabled: true } },
  ]);
  expect(lost.headers.get('x-service-ignored')).toBe('tool_result.is_error, document.citations');
  expect(upstream.bodies.at(-1)).toMatchObject({
    messages: expect.arrayContaining([
      { role: 'tool', tool_call_id: 't1', content: 'From 1900.\n\nA book' },
    ]) as object,
  });
  const kept = await ask([
    { ...result, is_error: false, content: 'a cat' },
    { ...document, citations: { enabled: false }, context: null },
  ]);
  expect([kept.status, kept.headers.get('x-service-ignored')]).toEqual([200, null]);
  await takeUsage(gateway.test.context.bus.journal, 2);
});

test.each([
  { named: 'mcp_servers', body: { mcp_servers: [{ type: 'url', url: 'https://example.com' }] } },
  {
    named: 'web_search',
    body: {
      tools: [{ type: 'web_search_20250305', name: 'web_search' }],
      tool_choice: { type: 'tool', name: 'web_search' },
    },
  },
  { named: 'container', body: { container: { skills: [{ type: 'custom', skill_id: 's' }] } } },
  { named: 'max_tokens', body: { max_tokens: undefined } },
  {
    named: 'messages.0.content.0',
    body: { messages: [{ role: 'user', content: [{ type: 'x' }] }] },
  },
])('$named is refused in the shape of the API', async ({ named, body }) => {
  const response = await post('/v1/messages', { ...hello, ...body });
  expect(response.status).toBe(400);
  const answer: unknown = await response.json();
  expect(answer).toMatchObject({
    type: 'error',
    error: { type: 'invalid_request_error', message: expect.stringContaining(named) as string },
    request_id: response.headers.get('request-id'),
  });
  expect(response.headers.get('x-request-id')).toBe(response.headers.get('request-id'));
});

test('the official client recognizes errors', async () => {
  await expect(client('service-x').messages.create(hello)).rejects.toBeInstanceOf(
    AuthenticationError,
  );
  const notFound = await client()
    .messages.create({ ...hello, model: 'none' })
    .catch((error: unknown) => error);
  expect(notFound).toBeInstanceOf(NotFoundError);
  expect(notFound).toHaveProperty('requestID', expect.stringMatching(/^[\w-]{20,}$/));
  await expect(client().messages.create({ ...hello, messages: [] })).rejects.toBeInstanceOf(
    BadRequestError,
  );
  const missing = await fetch(`${gateway.url}/v1/messages`, { method: 'POST', body: '{}' });
  expect(missing.status).toBe(401);
  await expect(missing.json()).resolves.toMatchObject({
    type: 'error',
    error: { type: 'authentication_error' },
  });
});

test('tokens are counted without a call and without a row', async () => {
  const before = upstream.bodies.length;
  const { input_tokens: short } = await client().messages.countTokens({
    model: 'm',
    messages: hello.messages,
  });
  const { input_tokens: long } = await client().messages.countTokens({
    model: 'm',
    system: 'Be brief.',
    tools: [weather],
    messages: [{ role: 'user', content: 'A much longer question than the other one.' }],
  });
  expect(short).toBeGreaterThan(0);
  expect(long).toBeGreaterThan(short);
  expect(upstream.bodies).toHaveLength(before);
  const counted = await post(
    '/v1/messages/count_tokens',
    { ...hello, context_management: { edits: [] } },
    { 'anthropic-beta': 'other' },
  );
  expect(counted.status).toBe(200);
  expect(counted.headers.get('x-service-ignored')).toBe('context_management, anthropic-beta.other');
  upstream.answer(plain('Hello'));
  await client().messages.create({ ...hello, metadata: { user_id: 'after' } });
  await expect(takeUsage(gateway.test.context.bus.journal, 1)).resolves.toHaveLength(1);
});
