import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { admin, registerBackend, startGateway, type GatewayUnderTest } from '../gateway.ts';
import { startRecordingUpstream, type RecordingUpstream } from '../routing/recording-upstream.ts';

// The model of an answer is the one that the upstream names, streamed or whole, in each API.

const NAMED = 'm-2026-01-31';
/** Asked for by an alias: neither it nor its target is what the upstream calls the model. */
const ASKED = 'fast';

let gateway: GatewayUnderTest;
let upstream: RecordingUpstream;
let openai: OpenAI;
let anthropic: Anthropic;

beforeAll(async () => {
  gateway = await startGateway({ SERVICE_API_RATE_LIMIT_RPM: '100000' });
  upstream = await startRecordingUpstream();
  await registerBackend(gateway, { type: 'external', name: 'up', url: upstream.url });
  await admin(gateway, 'POST', 'aliases', { alias: ASKED, target: 'm' });
  openai = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.key, maxRetries: 0 });
  anthropic = new Anthropic({ baseURL: gateway.url, apiKey: gateway.key, maxRetries: 0 });
});
afterAll(async () => {
  await gateway.test.close();
  await upstream.close();
});
beforeEach(() => {
  const message = { role: 'assistant', content: 'Hello' };
  const choices = [{ index: 0, message, finish_reason: 'stop' }];
  upstream.answer({ id: 'x', model: NAMED, choices });
});

function streams(): void {
  const head = { id: 'x', object: 'chat.completion.chunk', created: 1, model: NAMED };
  upstream.stream([
    { ...head, choices: [{ index: 0, delta: { role: 'assistant' }, finish_reason: null }] },
    { ...head, choices: [{ index: 0, delta: { content: 'Hello' }, finish_reason: null }] },
    { ...head, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
  ]);
}

const messages = [{ role: 'user' as const, content: 'Hi' }];

test('chat completions', async () => {
  const whole = await openai.chat.completions.create({ model: ASKED, messages });
  streams();
  const stream = await openai.chat.completions.create({ model: ASKED, messages, stream: true });
  const models = new Set([whole.model]);
  for await (const { model } of stream) models.add(model);
  expect([...models]).toEqual([NAMED]);
});

test('responses', async () => {
  const request = { model: ASKED, input: 'Hi' };
  const models = new Set([(await openai.responses.create(request)).model]);
  streams();
  for await (const event of await openai.responses.create({ ...request, stream: true }))
    if ('response' in event) models.add(event.response.model);
  expect([...models]).toEqual([NAMED]);
});

test('messages', async () => {
  const request = { model: ASKED, messages, max_tokens: 9 };
  const models = new Set<string>([(await anthropic.messages.create(request)).model]);
  streams();
  for await (const event of await anthropic.messages.create({ ...request, stream: true }))
    if (event.type === 'message_start') models.add(event.message.model);
  expect([...models]).toEqual([NAMED]);
});

test('clients of the Messages API read the list of models', async () => {
  const listed: string[] = [];
  for await (const {
    id,
    type,
    display_name: name,
    created_at: created,
  } of anthropic.models.list()) {
    listed.push(id);
    expect([type, typeof name, Number.isNaN(Date.parse(created))]).toEqual([
      'model',
      'string',
      false,
    ]);
  }
  expect(listed).toEqual(expect.arrayContaining(['m', ASKED]));
  await expect(anthropic.models.retrieve(ASKED)).resolves.toMatchObject({
    id: ASKED,
    type: 'model',
  });
});
