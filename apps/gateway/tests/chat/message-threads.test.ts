import Anthropic, { BadRequestError } from '@anthropic-ai/sdk';
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema';
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

const question = { role: 'user' as const, content: 'How is the weather in Rome?' };
const called = { name: 'weather', arguments: '{"place":"Rome"}' };
const answerOf = (message: object, finish: string) => ({
  id: 'x',
  choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: finish }],
});

test('a tool runner of the official client sends the whole conversation, which it would leave to the service', async () => {
  const calls = [{ id: 'c1', type: 'function', function: called }];
  upstream.answer(answerOf({ content: null, tool_calls: calls }, 'tool_calls'));
  const weather = betaTool({
    name: called.name,
    description: 'Tells the weather.',
    inputSchema: { type: 'object', properties: { place: { type: 'string' } } },
    run: () => {
      upstream.answer(answerOf({ content: 'It rains.' }, 'stop'));
      return 'rain';
    },
  });
  const runner = client.beta.messages.toolRunner({
    model: 'm',
    max_tokens: 100,
    messages: [question],
    tools: [weather],
  });
  await expect(runner.runUntilDone()).resolves.toMatchObject({
    content: [{ type: 'text', text: 'It rains.' }],
  });
  expect(upstream.bodies.at(-1)).toMatchObject({
    messages: [question, { tool_calls: calls }, { role: 'tool', content: 'rain' }],
    tools: [{ function: { name: called.name } }],
  });
});

test.each([
  { type: 'create' as const },
  { type: 'continue' as const, previous_message_id: 'msg_1' },
])('a request with a thread is refused as one that cannot have it: $type', async (thread) => {
  const sent = upstream.bodies.length;
  const asked = { model: 'm', max_tokens: 9, messages: [question], thread };
  const [refusal] = await Promise.allSettled([client.beta.messages.create(asked)]);
  if (refusal?.status !== 'rejected') throw new Error('the request was served');
  expect(refusal.reason).toBeInstanceOf(BadRequestError);
  expect(refusal.reason).toMatchObject({
    type: 'invalid_request_error',
    errorCode: 'thread_unsupported_request',
    message: expect.stringContaining('send all messages') as string,
    error: {
      error: { details: { error_code: 'thread_unsupported_request', unsupported: ['thread'] } },
    },
  });
  expect(upstream.bodies).toHaveLength(sent);
});
