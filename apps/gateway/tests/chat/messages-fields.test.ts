import Anthropic, { APIError } from '@anthropic-ai/sdk';
import { registerBackend, startGateway, type GatewayUnderTest } from '../gateway.ts';
import { startRecordingUpstream, type RecordingUpstream } from '../routing/recording-upstream.ts';

let gateway: GatewayUnderTest;
let upstream: RecordingUpstream;
let client: Anthropic;

beforeAll(async () => {
  gateway = await startGateway({ SERVICE_API_RATE_LIMIT_RPM: '100000' });
  upstream = await startRecordingUpstream();
  await registerBackend(gateway, { type: 'external', name: 'up', url: upstream.url });
  client = new Anthropic({ baseURL: gateway.url, apiKey: gateway.key, maxRetries: 0 });
});
afterAll(async () => {
  await gateway.test.close();
  await upstream.close();
});

type Required<T> = { readonly [Name in keyof T]-?: unknown };

/** The null fields of the objects that the official client declares; a new field of it fails the type check. */
const MESSAGE = {
  id: expect.stringMatching(/^msg_/) as unknown,
  container: null,
  content: expect.any(Array) as unknown,
  diagnostics: null,
  model: 'm',
  role: 'assistant',
  stop_details: null,
  stop_reason: 'end_turn',
  stop_sequence: null,
  type: 'message',
  usage: expect.any(Object) as unknown,
} satisfies Required<Anthropic.Message>;
const USAGE_AT_END = {
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  input_tokens: expect.any(Number) as unknown,
  output_tokens: expect.any(Number) as unknown,
  output_tokens_details: null,
  server_tool_use: null,
} satisfies Required<Anthropic.MessageDeltaUsage>;
const USAGE = {
  ...USAGE_AT_END,
  cache_creation: null,
  inference_geo: null,
  service_tier: null,
  speed: null,
} satisfies Required<Anthropic.Usage>;
const TEXT = {
  type: 'text',
  text: 'Hello',
  citations: [],
} satisfies Required<Anthropic.TextBlock>;
const REFUSAL = {
  type: 'refusal',
  category: null,
  explanation: null,
} satisfies Required<Anthropic.RefusalStopDetails>;

const hello = { model: 'm', max_tokens: 9, messages: [{ role: 'user' as const, content: 'Hi' }] };

const scriptAnswer = (finish: string) => {
  const choice = { index: 0, finish_reason: finish };
  upstream.answer({
    id: 'x',
    choices: [{ ...choice, message: { role: 'assistant', content: 'Hello' } }],
  });
};
const chunk = (delta: object, finish: string | null = null) => ({
  id: 'x',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta, finish_reason: finish }],
});
const scriptStream = (finish: string) =>
  upstream.stream([chunk({ content: 'Hello' }), chunk({}, finish)]);

test.each([
  { finish: 'stop', message: MESSAGE },
  {
    finish: 'content_filter',
    message: { ...MESSAGE, stop_reason: 'refusal', stop_details: REFUSAL },
  },
])('a message has every field that the client declares: $finish', async ({ finish, message }) => {
  scriptAnswer(finish);
  const whole = await client.messages.create(hello).asResponse();
  expect(await whole.json()).toEqual({ ...message, content: [TEXT], usage: USAGE });

  scriptStream(finish);
  const events: Anthropic.MessageStreamEvent[] = [];
  for await (const event of await client.messages.create({ ...hello, stream: true }))
    events.push(event);
  expect(events).toContainEqual({
    type: 'message_start',
    message: { ...MESSAGE, content: [], stop_reason: null, usage: USAGE },
  });
  expect(events).toContainEqual({
    type: 'content_block_start',
    index: 0,
    content_block: { ...TEXT, text: '' },
  });
  const { stop_reason, stop_details } = message;
  expect(events).toContainEqual({
    type: 'message_delta',
    delta: { container: null, stop_details, stop_reason, stop_sequence: null },
    usage: USAGE_AT_END,
  });
});

test('a message can be sent back as it came', async () => {
  scriptAnswer('stop');
  const { content } = await client.messages.create(hello);
  const messages = [...hello.messages, { role: 'assistant' as const, content }, ...hello.messages];
  const again = await client.messages.create({ ...hello, messages }).asResponse();
  expect(again.headers.get('x-service-ignored')).toBeNull();
});

test('examples of the input of a tool reach a model that has no field for them', async () => {
  scriptAnswer('stop');
  const tool = { name: 'weather', input_schema: { type: 'object' as const } };
  const example = { input_examples: [{ place: 'Rome' }, { place: 'Oslo' }] };
  await client.messages.create({
    ...hello,
    tools: [
      { ...tool, ...example, description: 'Tells the weather.' },
      { ...tool, ...example, name: 'climate' },
    ],
  });
  const examples = 'Examples of the input:\n{"place":"Rome"}\n{"place":"Oslo"}';
  expect(upstream.bodies.at(-1)).toMatchObject({
    tools: [
      { function: { description: `Tells the weather.\n\n${examples}` } },
      { function: { description: examples } },
    ],
  });
});

test('an upstream that fails in the middle ends the stream with an error that names the request', async () => {
  upstream.stream([chunk({ content: 'Hel' }), { error: { message: 'out of memory' } }]);
  const stream = client.messages.stream(hello);
  const failure = await stream.finalMessage().catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(APIError);
  expect(failure).toMatchObject({
    error: { type: 'error', request_id: stream.request_id, error: { message: 'out of memory' } },
  });
});
