import { waitUntil } from '@model-gateway/testkit';
import { startChatUpstream, type RunningChatUpstream } from '@model-gateway/testkit/upstreams';
import OpenAI, { BadRequestError, NotFoundError } from 'openai';
import { zodTextFormat } from 'openai/helpers/zod';
import type { FunctionTool } from 'openai/resources/responses/responses';
import { z } from 'zod';
import {
  keysOf,
  NO_ITEMS,
  registerBackend,
  startGateway,
  type GatewayUnderTest,
} from '../gateway.ts';
import { takeUsage } from '../money/usage-journal.ts';

const STORED_BYTES_MAX = 1024 ** 3;

let gateway: GatewayUnderTest;
let upstream: RunningChatUpstream;
let client: OpenAI;

beforeAll(async () => {
  gateway = await startGateway({
    SERVICE_API_RATE_LIMIT_RPM: '100000',
    SERVICE_RESPONSES_PER_USER_MAX: '20',
  });
  upstream = await startChatUpstream({ models: ['demo-chat'] });
  await registerBackend(gateway, { type: 'external', name: 'up', url: upstream.url });
  client = clientOf(gateway.key);
});
afterEach(() => upstream.faults.clear());
afterAll(async () => {
  await gateway.test.close();
  await upstream.close();
});

const clientOf = (apiKey: string) =>
  new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey, maxRetries: 0 });
const model = 'demo-chat';
const usage = (count = 1) => takeUsage(gateway.test.context.bus.journal, count);
const weather: FunctionTool = {
  type: 'function',
  name: 'get_weather',
  strict: false,
  parameters: { type: 'object', properties: { city: { type: 'string' } } },
};

/** The messages that the upstream got last. */
const lastMessages = (): unknown => Reflect.get(upstream.requests.at(-1)?.body ?? {}, 'messages');

test('the official client creates, streams and meters like chat', async () => {
  const whole = await client.responses.create({
    model,
    input: 'Hello!',
    instructions: 'Be brief.',
  });
  expect(whole.output_text).toContain('You wrote: "Hello!"');
  expect(whole).toMatchObject({ object: 'response', status: 'completed', store: true });
  expect(lastMessages()).toEqual([
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Hello!' },
  ]);
  const types = new Set<string>();
  const stream = client.responses.stream({ model, input: 'Hello!' });
  for await (const event of stream) types.add(event.type);
  const final = await stream.finalResponse();
  expect(final.output_text).toBe(whole.output_text);
  expect([...types]).toEqual([
    'response.created',
    'response.in_progress',
    'response.output_item.added',
    'response.content_part.added',
    'response.output_text.delta',
    'response.output_text.done',
    'response.content_part.done',
    'response.output_item.done',
    'response.completed',
  ]);
  const events = await usage(2);
  for (const [at, { usage: shown }] of [whole, final].entries()) {
    expect(events[at]).toMatchObject({
      model,
      backend: 'gateway',
      upstream: 'up',
      status: 200,
      prompt_tokens: shown?.input_tokens,
      completion_tokens: shown?.output_tokens,
    });
  }
});

test('a tool call, its result, and the earlier items by the id of the response', async () => {
  const first = await client.responses.create({
    model,
    input: 'call get_weather {"city":"Paris"}',
    tools: [weather],
  });
  const [call] = first.output;
  expect(call).toMatchObject({ type: 'function_call', name: 'get_weather', status: 'completed' });
  if (call?.type !== 'function_call') return;
  expect(JSON.parse(call.arguments)).toEqual({ city: 'Paris' });
  const second = await client.responses.create({
    model,
    previous_response_id: first.id,
    input: [{ type: 'function_call_output', call_id: call.call_id, output: 'sunny' }],
    tools: [weather],
  });
  expect(second.output_text).toContain('answered: "sunny"');
  expect(second.previous_response_id).toBe(first.id);
  expect(lastMessages()).toMatchObject([
    { role: 'user' },
    { role: 'assistant', tool_calls: [{ id: call.call_id }] },
    { role: 'tool', tool_call_id: call.call_id, content: 'sunny' },
  ]);
  const items = [];
  const listed = client.responses.inputItems.list(second.id, { order: 'asc', limit: 2 });
  for await (const item of listed) items.push(item);
  expect(items.map(({ type }) => type)).toEqual([
    'message',
    'function_call',
    'function_call_output',
  ]);
  const unknown = client.responses.inputItems.list(second.id, { after: 'msg_of_another' });
  await expect(unknown).rejects.toMatchObject({ status: 400, param: 'after' });
  await client.responses.create({
    model,
    input: [
      { type: 'item_reference', id: items[0]?.id ?? '' },
      { role: 'user', content: 'And now?' },
    ],
  });
  expect(lastMessages()).toMatchObject([
    { content: 'call get_weather {"city":"Paris"}' },
    { content: 'And now?' },
  ]);
  await usage(3);
  await client.responses.delete(first.id);
  const left = await client.responses.inputItems.list(second.id);
  expect(left.data.map(({ type }) => type)).toEqual(['function_call_output']);
});

test('a streamed call arrives in pieces, and a custom tool in its own type', async () => {
  const tools = [weather, { type: 'custom' as const, name: 'note' }];
  const asked = 'call get_weather {"city":"Paris"} and call note {"input":"x = 1"}';
  const stream = client.responses.stream({ model, input: asked, tools, store: false });
  let deltas = 0;
  for await (const event of stream)
    if (event.type === 'response.function_call_arguments.delta') deltas += 1;
  const { output } = await stream.finalResponse();
  expect(deltas).toBeGreaterThan(1);
  expect(output).toMatchObject([
    { type: 'function_call', name: 'get_weather' },
    { type: 'custom_tool_call', name: 'note', input: 'x = 1' },
  ]);
  await usage();
});

test('an answer by a schema is parsed', async () => {
  const message = { role: 'assistant', content: '{"city":"Paris"}' };
  const body = {
    id: 'c',
    object: 'chat.completion',
    created: 1,
    model,
    choices: [{ index: 0, message, finish_reason: 'stop' }],
    usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
  };
  upstream.faults.next({ kind: 'status', status: 200, body });
  const format = zodTextFormat(z.object({ city: z.string() }), 'place');
  const parsed = await client.responses.parse({ model, input: 'Where?', text: { format } });
  expect(parsed.output_parsed).toEqual({ city: 'Paris' });
  expect(upstream.requests.at(-1)?.body).toMatchObject({
    response_format: { type: 'json_schema', json_schema: { name: 'place', strict: true } },
  });
  await usage();
});

test('a stored response can be read and deleted by its user alone', async () => {
  const created = await client.responses.create({ model, input: 'Hello!', metadata: { a: 'b' } });
  const { output_text: _text, ...stored } = created;
  expect(await client.responses.retrieve(created.id)).toMatchObject(stored);
  const { database } = gateway.test.context;
  const id = crypto.randomUUID();
  await database.users.create({ id, email: 'o@example.com', name: '', passwordHash: 'x' });
  const other = clientOf((await keysOf(gateway.test).create({ userId: id, name: 'x' })).secret);
  for (const refused of [
    other.responses.retrieve(created.id),
    other.responses.delete(created.id),
    other.responses.inputItems.list(created.id),
    client.responses.retrieve('resp_unknown'),
  ]) {
    await expect(refused).rejects.toBeInstanceOf(NotFoundError);
  }
  const [item] = created.output;
  const next = { model, input: 'And?', previous_response_id: created.id };
  await expect(other.responses.create(next)).rejects.toMatchObject({
    status: 400,
    code: 'previous_response_not_found',
    param: 'previous_response_id',
  });
  await expect(
    other.responses.create({
      model,
      input: [{ type: 'item_reference', id: item?.id ?? '' }],
    }),
  ).rejects.toBeInstanceOf(NotFoundError);
  await client.responses.delete(created.id);
  await expect(client.responses.retrieve(created.id)).rejects.toBeInstanceOf(NotFoundError);
  await expect(client.responses.create(next)).rejects.toBeInstanceOf(BadRequestError);
  const unstored = await client.responses.create({ model, input: 'Hi', store: false });
  expect(unstored).toMatchObject({ store: false });
  await expect(client.responses.retrieve(unstored.id)).rejects.toBeInstanceOf(NotFoundError);
  await usage(2);
});

test('what is left out is in a header, and what cannot be done is refused by name', async () => {
  const { response } = await client.responses
    .create({ model, input: 'Hi', tools: [{ type: 'web_search' }], prompt_cache_key: 'k' })
    .withResponse();
  expect(response.headers.get('x-service-ignored')).toBe('prompt_cache_key, web_search');
  expect(response.headers.get('x-service-backend')).toBe('up');
  const refusals = [
    { body: { background: true }, code: 'invalid_value', param: 'background' },
    { body: { conversation: 'conv_1' }, code: 'invalid_value', param: 'conversation' },
    {
      body: { tool_choice: { type: 'web_search_preview' as const } },
      code: 'unsupported_tool',
      param: 'tool_choice',
    },
  ];
  for (const { body, code, param } of refusals) {
    await expect(client.responses.create({ model, input: 'Hi', ...body })).rejects.toMatchObject({
      status: 400,
      type: 'invalid_request_error',
      code,
      param,
    });
  }
  await expect(clientOf('service-none').responses.create({ model })).rejects.toMatchObject({
    status: 401,
    code: 'invalid_api_key',
  });
  await usage();
});

test('the tokens of a request are estimated, with those of what it continues, free and without a call', async () => {
  const created = await client.responses.create({ model, input: 'A question of some length.' });
  await usage();
  const asked = upstream.requestCount;
  const count = async (body: object) =>
    client.responses.inputTokens.count({ model, input: 'Hello!', ...body });
  const { object, input_tokens: short } = await count({});
  expect(object).toBe('response.input_tokens');
  expect(short).toBeGreaterThan(0);
  const { input_tokens: continued } = await count({ previous_response_id: created.id });
  expect(continued).toBeGreaterThan(short);
  const { data, response } = await client.responses.inputTokens
    .count({ model, input: 'Hello!', instructions: 'Be brief.', tools: [{ type: 'web_search' }] })
    .withResponse();
  expect(data.input_tokens).toBeGreaterThan(short);
  expect(response.headers.get('x-service-ignored')).toBe('web_search');
  await expect(count({ previous_response_id: 'resp_none' })).rejects.toMatchObject({ status: 400 });
  await expect(
    clientOf('service-none').responses.inputTokens.count({ model }),
  ).rejects.toMatchObject({ status: 401, code: 'invalid_api_key' });
  expect(upstream.requestCount).toBe(asked);
  await client.responses.create({ model, input: 'Hi' });
  expect(await usage()).toHaveLength(1);
});

test('a client that disconnects pays for what was streamed, and nothing is stored', async () => {
  upstream.faults.next({ kind: 'slow-chunks', delayMs: 1_000 });
  const before = upstream.aborted;
  const stream = await client.responses.create({ model, input: 'Hello!', stream: true });
  let id = '';
  for await (const event of stream) {
    if (event.type === 'response.created') id = event.response.id;
    if (event.type === 'response.output_text.delta') break;
  }
  await upstream.until(() => upstream.aborted > before);
  const [event] = await usage();
  expect(event?.completion_tokens).toBeGreaterThan(0);
  expect(event?.completion_tokens).toBeLessThan(30);
  await expect(client.responses.retrieve(id)).rejects.toBeInstanceOf(NotFoundError);
});

test('an answer that breaks off fails in its own events', async () => {
  upstream.faults.next({ kind: 'cut', afterChunks: 3 });
  const stream = await client.responses.create({ model, input: 'Hello!', stream: true });
  const events = [];
  for await (const event of stream) events.push(event);
  expect(events.at(-2)).toMatchObject({ type: 'error', code: 'server_error' });
  expect(events.at(-1)).toMatchObject({
    type: 'response.failed',
    response: { status: 'failed', error: { code: 'server_error' } },
  });
  await usage();
});

test('expired responses are not found, and later ones delete them', async () => {
  const { database, clock } = gateway.test.context;
  const past = new Date(clock.now() - 1_000);
  const expired = {
    id: 'resp_expired',
    userId: gateway.userId,
    previousId: null,
    createdAt: past,
    expiresAt: past,
    input: '[]',
    response: '{}',
    ...NO_ITEMS,
  };
  await database.responses.save(expired, STORED_BYTES_MAX);
  await expect(client.responses.retrieve('resp_expired')).rejects.toBeInstanceOf(NotFoundError);
  await client.responses.create({ model, input: 'Hi' });
  const isGone = async (): Promise<boolean> => {
    const found = await database.responses.find(gateway.userId, ['resp_expired'], new Date(0));
    return found.length === 0;
  };
  await waitUntil(isGone, { what: 'the deletion of the expired response' });
  await usage();
});

test('a user keeps the newest responses, and the oldest are deleted', async () => {
  const { database, clock } = gateway.test.context;
  const ids = Array.from({ length: 20 }, (_, at) => `resp_many_${at}`);
  for (const [at, id] of ids.entries()) {
    const createdAt = new Date(clock.now() + at);
    const expiresAt = new Date(clock.now() + 60_000);
    const stored = {
      id,
      userId: gateway.userId,
      previousId: null,
      input: '[]',
      response: '{}',
      ...NO_ITEMS,
    };
    await database.responses.save({ ...stored, createdAt, expiresAt }, STORED_BYTES_MAX);
  }
  const { id } = await client.responses.create({ model, input: 'Hi' });
  const left = async () =>
    (await database.responses.find(gateway.userId, [...ids, id], new Date(0))).length;
  await waitUntil(async () => (await left()) === 20, { what: 'the deletion of the oldest' });
  await usage();
});
