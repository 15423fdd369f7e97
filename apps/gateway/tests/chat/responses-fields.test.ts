import OpenAI from 'openai';
import { registerBackend, startGateway, type GatewayUnderTest } from '../gateway.ts';
import { startRecordingUpstream, type RecordingUpstream } from '../routing/recording-upstream.ts';

let gateway: GatewayUnderTest;
let upstream: RecordingUpstream;
let client: OpenAI;

beforeAll(async () => {
  gateway = await startGateway({ SERVICE_API_RATE_LIMIT_RPM: '100000' });
  upstream = await startRecordingUpstream();
  await registerBackend(gateway, { type: 'external', name: 'up', url: upstream.url });
  client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.key, maxRetries: 0 });
});
afterAll(async () => {
  await gateway.test.close();
  await upstream.close();
});

const hello = { model: 'm', input: 'Hi' };
const completion = (finish: string) => ({
  id: 'x',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: finish }],
});
const chunk = (delta: object, finish: string | null = null) => ({
  id: 'x',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta, finish_reason: finish }],
});

test('a response has the fields that strict clients read', async () => {
  upstream.answer(completion('stop'));
  const tool = { type: 'function' as const, name: 'weather', parameters: {} };
  const response = await client.responses.create({
    ...hello,
    tools: [
      { ...tool, strict: false, description: 'Tells the weather.' },
      { type: 'function', name: 'bare' } as never,
    ],
  });
  const now = Math.floor(Date.now() / 1_000);
  expect(response).toMatchObject({
    frequency_penalty: 0,
    presence_penalty: 0,
    top_logprobs: 0,
    max_tool_calls: null,
    temperature: 1,
    top_p: 1,
    tools: [
      { ...tool, strict: false, description: 'Tells the weather.' },
      { type: 'function', name: 'bare', parameters: null, strict: null, description: null },
    ],
  });
  expect(response.completed_at).toBeGreaterThanOrEqual(response.created_at);
  expect(response.completed_at).toBeLessThanOrEqual(now);
  await expect(client.responses.retrieve(response.id)).resolves.toMatchObject({
    completed_at: response.completed_at,
  });
});

test('a response that is not complete has no time of completion', async () => {
  upstream.answer(completion('length'));
  const response = await client.responses.create({ ...hello, store: false });
  expect(response).toMatchObject({ status: 'incomplete', completed_at: null });
});

test('the fields that chat completions has too reach its backends and come back', async () => {
  upstream.answer(completion('stop'));
  const sampling = {
    presence_penalty: 0.5,
    frequency_penalty: 0.25,
    temperature: 0.5,
    top_p: 0.75,
  };
  const further = { seed: 7, top_k: 5, stop: 'END', chat_template_kwargs: { thinking: false } };
  const asked = { ...hello, ...sampling, ...further, top_logprobs: 3, max_tool_calls: 2 };
  const { data, response } = await client.responses.create(asked as never).withResponse();
  expect(data).toMatchObject({ ...sampling, top_logprobs: 3, max_tool_calls: 2 });
  expect(response.headers.get('x-service-ignored')).toBe('max_tool_calls');
  expect(upstream.bodies.at(-1)).toMatchObject({
    ...sampling,
    ...further,
    stop: ['END'],
    logprobs: true,
    top_logprobs: 3,
  });
});

const ask = (path: string, method: string, body?: object) =>
  fetch(`${gateway.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${gateway.key}` },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });

test('a stream ends with the end mark, one that fails without', async () => {
  const stream = async () =>
    (await ask('/v1/responses', 'POST', { ...hello, stream: true })).text();
  upstream.stream([chunk({ content: 'Hello' }), chunk({}, 'stop')]);
  const whole = await stream();
  expect(whole.match(/^event: response\.completed$/gm)).toHaveLength(1);
  expect(whole.endsWith('\n\ndata: [DONE]\n\n')).toBe(true);
  const completed: unknown = JSON.parse(whole.split('data: ').at(-2) ?? '');
  expect(completed).toMatchObject({ response: { completed_at: expect.any(Number) as number } });

  upstream.stream([chunk({ content: 'Hello' }), { error: { message: 'out of memory' } }]);
  const failed = await stream();
  expect(failed).toContain('event: response.failed\n');
  expect(failed).not.toContain('response.completed');
  expect(failed).not.toContain('[DONE]');
});

test.each([
  { method: 'POST', path: '/v1/responses/compact' },
  { method: 'POST', path: '/v1/responses/resp_1/cancel' },
  { method: 'PUT', path: '/v1/responses/compact/now' },
  { method: 'POST', path: '/v1/conversations' },
  { method: 'GET', path: '/v1/conversations/conv_1/items' },
])('a path that does not exist is not found: $method $path', async ({ method, path }) => {
  const response = await ask(path, method, method === 'GET' ? undefined : {});
  expect([response.status, await response.json()]).toEqual([
    404,
    {
      error: {
        message: `no route ${method} ${path}`,
        type: 'invalid_request_error',
        code: null,
        param: null,
      },
    },
  ]);
});

test('a method that a stored response does not have is refused with those that it has', async () => {
  const response = await ask('/v1/responses/resp_1', 'POST', {});
  expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, DELETE']);
});
