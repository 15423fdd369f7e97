import { startChatUpstream, type RunningChatUpstream } from '@model-gateway/testkit/upstreams';
import OpenAI, { NotFoundError, type APIError } from 'openai';
import { admin, registerBackend, startGateway, type GatewayUnderTest } from '../gateway.ts';
import {
  ANSWER,
  eventsOf,
  startResponsesUpstream,
  type ResponsesUpstream,
} from './responses-upstream.ts';
import { takeUsage } from '../money/usage-journal.ts';

let gateway: GatewayUnderTest;
let upstream: ResponsesUpstream;
let chatOnly: RunningChatUpstream;
let client: OpenAI;

beforeAll(async () => {
  gateway = await startGateway({ SERVICE_API_RATE_LIMIT_RPM: '100000' });
  upstream = await startResponsesUpstream();
  chatOnly = await startChatUpstream({ models: ['m', 'plain'] });
  await registerBackend(gateway, {
    type: 'external',
    name: 'native',
    url: upstream.url,
    dialects: ['responses'],
  });
  client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.key, maxRetries: 0 });
});
afterAll(async () => {
  await gateway.test.close();
  await upstream.close();
  await chatOnly.close();
});

const model = 'm';
const tools = [{ type: 'web_search' as const }];
const tool_choice = { type: 'web_search_preview' as const };
const usage = (count = 1) => takeUsage(gateway.test.context.bus.journal, count);
const own = (responseId: string, itemId: string): string =>
  itemId.replace('_', `_${responseId.replace('resp_', '')}u`);

test('a request passes as it is, and the response is the own one of the gateway', async () => {
  const { data: whole, response } = await client.responses
    .create({ model, input: 'Hi', tools, tool_choice, prompt_cache_key: 'k', store: false })
    .withResponse();
  expect(response.headers.get('x-service-ignored')).toBeNull();
  expect(response.headers.get('x-service-backend')).toBe('native');
  expect(upstream.bodies.at(-1)).toEqual({
    model,
    input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi' }] }],
    tools,
    tool_choice,
    prompt_cache_key: 'k',
    store: false,
    stream: false,
  });
  expect(whole).toMatchObject({ model: 'm-2026', output_text: ANSWER, tools, store: false });
  expect(whole.id).toMatch(/^resp_[0-9a-f]{32}$/);
  expect(whole.output.map(({ type }) => type)).toEqual(['web_search_call', 'reasoning', 'message']);
  expect(await usage()).toMatchObject([
    { model, upstream: 'native', prompt_tokens: 90, completion_tokens: 40, cached_tokens: 30 },
  ]);
});

test('a stream passes event by event, and the stored response is continued', async () => {
  const stream = await client.responses.create({ model, input: 'Hi', tools, stream: true });
  const events = [];
  for await (const event of stream) events.push(event);
  const last = events.at(-1);
  if (last?.type !== 'response.completed') throw new Error(`the last event is ${last?.type}`);
  const { id } = last.response;
  const asStored = JSON.stringify(eventsOf({ tools }))
    .replaceAll(/"(ws|rs|msg)_1"/g, (quoted) => own(id, quoted))
    .replaceAll('"resp_upstream"', `"${id}"`)
    .replaceAll('"store":false', '"store":true,"previous_response_id":null');
  expect(events).toEqual(JSON.parse(asStored));
  expect(await client.responses.retrieve(id)).toMatchObject({ id, store: true });

  const next = await client.responses.create({ model, input: 'And?', previous_response_id: id });
  expect(next).toMatchObject({ previous_response_id: id, output_text: ANSWER });
  const sent = upstream.bodies.at(-1) ?? {};
  expect(sent).not.toHaveProperty('previous_response_id');
  expect(sent).toMatchObject({
    store: false,
    input: [
      { type: 'message', role: 'user', content: [{ text: 'Hi' }] },
      { type: 'web_search_call', id: 'ws_1' },
      { type: 'reasoning', id: 'rs_1', encrypted_content: 'gAAAA' },
      { type: 'message', role: 'assistant', id: 'msg_1' },
      { type: 'message', role: 'user', content: [{ text: 'And?' }] },
    ],
  });
  const referred = { type: 'item_reference' as const, id: own(id, 'msg_1') };
  await client.responses.create({ model, input: [referred, { role: 'user', content: 'So?' }] });
  expect(upstream.bodies.at(-1)).toMatchObject({
    input: [{ type: 'message', role: 'assistant', id: 'msg_1' }, { role: 'user' }],
  });
  await usage(3);
});

test('a client that leaves pays for what was streamed, and an upstream that fails does not', async () => {
  upstream.next({ events: 10 });
  const stream = await client.responses.create({ model, input: 'Hello!', stream: true });
  let id = '';
  for await (const event of stream) {
    if (event.type === 'response.created') id = event.response.id;
    if (event.type === 'response.output_text.delta') break;
  }
  await upstream.left;
  const [left] = await usage();
  expect(left).toMatchObject({ upstream: 'native', status: 499 });
  expect(left?.completion_tokens).toBeGreaterThan(0);
  expect(left?.completion_tokens).toBeLessThan(40);
  await expect(client.responses.retrieve(id)).rejects.toBeInstanceOf(NotFoundError);

  const error = { code: 'server_error', message: 'the model broke' };
  upstream.next({ fields: { status: 'failed', error } });
  await expect(client.responses.create({ model, input: 'Hi' })).rejects.toMatchObject({
    status: 502,
    message: expect.stringContaining('the model broke') as unknown,
  });
  upstream.next({ status: 500 });
  await expect(client.responses.create({ model, input: 'Hi' })).rejects.toMatchObject({
    status: 502,
  });
});

test('the usage that an upstream does not report is estimated and shown', async () => {
  upstream.next({ fields: { usage: null } });
  const stream = client.responses.stream({ model, input: 'Hi', store: false });
  const final = await stream.finalResponse();
  const [event] = await usage();
  expect(final.usage).toMatchObject({
    input_tokens: event?.prompt_tokens,
    output_tokens: event?.completion_tokens,
  });
  expect(event?.completion_tokens).toBeGreaterThan(0);
});

describe('beside a backend that speaks only chat completions', () => {
  beforeAll(async () => {
    await registerBackend(gateway, { type: 'external', name: 'chat', url: chatOnly.url });
  });

  test('a retry there is translated, and says what it leaves out', async () => {
    const first = { only: ['native', 'chat'], order: ['native', 'chat'] };
    upstream.next({ status: 503 });
    const sent = { model, input: 'Hi', tools, provider: first };
    const { data, response } = await client.responses.create(sent).withResponse();
    expect(response.headers.get('x-service-backend')).toBe('chat');
    expect(response.headers.get('x-service-ignored')).toBe('web_search');
    expect(data.output_text).toContain('You wrote: "Hi"');
    expect(chatOnly.requests.at(-1)?.body).not.toHaveProperty('tools');
    await usage();
  });

  test('what only the first one can do goes there, or is refused', async () => {
    for (let turn = 0; turn < 4; turn += 1) {
      const { response } = await client.responses
        .create({ model, input: 'Hi', tools, tool_choice })
        .withResponse();
      expect(response.headers.get('x-service-backend')).toBe('native');
    }
    await usage(4);
    const demanded = { model: 'plain', input: 'Hi', tools, tool_choice };
    await expect(client.responses.create(demanded)).rejects.toMatchObject({
      status: 400,
      code: 'unsupported_tool',
    });
    const untranslatable = [{ type: 'computer_call_output' as const, call_id: 'c' }];
    const body = { model: 'plain', input: untranslatable as never };
    await expect(client.responses.create(body)).rejects.toMatchObject({
      status: 400,
      code: 'invalid_value',
      param: 'input.0.type',
    });
  });

  test('a response of the first one is continued there', async () => {
    const sent = { model, input: 'Hi', provider: only('native') };
    const first = await client.responses.create(sent);
    const next = { model, input: 'And?', previous_response_id: first.id, provider: only('chat') };
    const { data, response } = await client.responses.create(next).withResponse();
    expect(data.output_text).toContain('You wrote: "And?"');
    expect(response.headers.get('x-service-ignored')).toBe(
      'input.web_search_call, input.encrypted_content',
    );
    await usage(2);
  });
});

const only = (name: string) => ({ only: [name] });

test('the registration shows it, and refuses other names and kinds', async () => {
  expect(await (await admin(gateway, 'GET', 'backends')).json()).toMatchObject({
    backends: { health: [{ name: 'native', dialects: ['responses'] }, { dialects: [] }] },
  });
  const change = (dialects: unknown, more = {}) =>
    admin(gateway, 'PATCH', 'backends/by-name/chat', { dialects, ...more });
  expect((await change(['telepathy'])).status).toBe(400);
  const wrongKind = await change(['responses'], { type: 'local-server' });
  expect(wrongKind.status).toBe(400);
  expect(await wrongKind.text()).toContain("'dialects'");
  expect((await change(['responses'])).status).toBe(200);
  expect(await (await admin(gateway, 'GET', 'backends/by-name/chat')).json()).toMatchObject({
    dialects: ['responses'],
  });
  expect((await change(null)).status).toBe(200);
});

test.each([
  { stream: false, code: 'invalid_prompt', status: 400, headers: { final: 'false' } },
  { stream: true, code: 'context_length_exceeded', status: 400, headers: { final: 'false' } },
  // The last one, since the model rests then.
  { stream: true, code: 'rate_limit_exceeded', status: 429, headers: { final: null } },
])('a response that fails with $code at once is a $status', async (row) => {
  const { stream, code, status, headers } = row;
  upstream.next({ error: { code, message: 'not this one' } });
  const sent = { model, input: 'Hi', stream, provider: only('native') };
  const failed = client.responses.create(sent);
  await expect(failed).rejects.toMatchObject({ status, code, error: { message: 'not this one' } });
  const { headers: answered } = (await failed.catch((error: unknown) => error)) as APIError;
  expect(answered?.get('x-should-retry')).toBe(headers.final);
});
