import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createBus } from '@model-gateway/bus';
import {
  startChatUpstream,
  startEngine,
  startOllamaServer,
  type RunningChatUpstream,
} from '@model-gateway/testkit/upstreams';
import { newId, silentLog } from '@model-gateway/kernel';
import { waitUntil } from '@model-gateway/testkit';
import { openStream } from '../rpc-server.ts';
import {
  eventsUrl,
  readToEnd,
  userMessage,
  startChatScene,
  textOf,
  type ChatScene,
} from './chat-scene.ts';

const ANSWER = 'one two three four five';

let scene: ChatScene;
let upstream: RunningChatUpstream;
beforeAll(async () => {
  scene = await startChatScene();
  upstream = await startChatUpstream({ models: ['m'], answer: () => ANSWER });
  await scene.addBackend('up', upstream.url);
});
afterAll(async () => {
  await scene.test.close();
  await upstream.close();
});
afterEach(() => upstream.faults.clear());

test('tokens arrive one by one and in order, then one notification with the finish reason', async () => {
  const received = await scene.ask(userMessage('Hi'));
  const end = received.at(-1);
  const [{ stream_id } = { stream_id: '' }] = received;
  expect(stream_id).toMatch(/^[\w-]{22}$/);
  expect(received.slice(0, -1)).toEqual(
    ['one', ' two', ' three', ' four', ' five'].map((token) => ({
      stream_id,
      token,
      is_complete: false,
    })),
  );
  const usage = { prompt_tokens: 1, completion_tokens: 5, total_tokens: 6 };
  expect(end).toEqual({
    stream_id,
    token: '',
    is_complete: true,
    finish_reason: 'stop',
    usage,
    model: 'm',
  });
  expect(await scene.usage()).toEqual([
    expect.objectContaining({
      user_id: scene.ann.id,
      key_id: null,
      api_key_id: `jwt-${scene.ann.id}`,
      group_id: null,
      project: null,
      backend: 'rpc',
      model: 'm',
      ref_id: null,
      ...usage,
    }),
  ]);
});

test('the response to the call contains the stream id and the memory state', async () => {
  const response = await scene.send(userMessage('Hi'));
  expect(response).toEqual({ stream_id: expect.any(String), memory: 'disabled' });
  const stream = await openStream(eventsUrl(scene.url, response.stream_id));
  expect(textOf(await readToEnd(stream))).toBe(ANSWER);
});

test.each([
  {
    kind: 'local-server',
    start: () => startOllamaServer({ models: ['own:latest'], answer: () => ANSWER }),
  },
  { kind: 'engine', start: () => startEngine({ models: ['own'], answer: () => ANSWER }) },
])('a backend of the kind $kind gives the same result', async ({ kind, start }) => {
  const other = await start();
  await scene.addBackend('other', other.url, kind);
  const received = await scene.ask({ ...userMessage('Hi'), model: 'own' });
  expect(textOf(received)).toBe(ANSWER);
  expect(received).toHaveLength(6);
  expect(received.at(-1)).toMatchObject({
    is_complete: true,
    finish_reason: 'stop',
    usage: { prompt_tokens: 1, completion_tokens: 5, total_tokens: 6 },
  });
  await scene.removeBackend('other');
  await other.close();
});

const TOOLS = [
  {
    type: 'function',
    function: { name: 'look', parameters: { required: ['at'], properties: { at: {} } } },
  },
];

test('tool calls arrive in parts, and a conversation stores them complete', async () => {
  const conversation_id = await scene.conversation();
  const received = await scene.ask({ ...userMessage('call look'), tools: TOOLS, conversation_id });
  const pieces = received.flatMap((one) => ('tool_calls' in one ? (one.tool_calls ?? []) : []));
  expect(pieces.length).toBeGreaterThan(1);
  expect(received.at(-1)).toMatchObject({ finish_reason: 'tool_calls' });
  const [, reply] = await scene.messages(conversation_id);
  expect(reply).toMatchObject({
    role: 'assistant',
    content: '',
    tool_calls: [
      {
        id: expect.any(String),
        type: 'function',
        function: { name: 'look', arguments: '{"at":"example"}' },
      },
    ],
  });
  const [call] = (reply?.['tool_calls'] ?? []) as { readonly id: string }[];
  const messages = [{ role: 'tool', tool_call_id: call?.id, content: 'seen' }];
  await scene.ask({ messages, conversation_id });
  expect(upstream.lastRequest?.body).toMatchObject({
    messages: [
      { role: 'user', content: 'call look' },
      { role: 'assistant', content: null, tool_calls: [{ id: call?.id }] },
      { role: 'tool', tool_call_id: call?.id, content: 'seen' },
    ],
  });
});

test('usage that an upstream does not report is estimated, and a response without text and usage is not metered', async () => {
  await scene.usage();
  upstream.faults.next({ kind: 'no-usage' });
  const usage = { prompt_tokens: 3, completion_tokens: 6, total_tokens: 9 };
  expect((await scene.ask(userMessage('eight chars'))).at(-1)).toMatchObject({ usage });
  expect(await scene.usage()).toEqual([expect.objectContaining(usage)]);
  upstream.faults.always({ kind: 'no-usage' });
  upstream.faults.next({ kind: 'no-tokens' });
  expect(await scene.ask(userMessage('Hi'))).toMatchObject([
    {
      is_complete: true,
      finish_reason: 'stop',
      usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
    },
  ]);
  expect(await scene.usage()).toEqual([]);
});

test('a turn without a listener is still generated and stored', async () => {
  const conversation_id = await scene.conversation();
  await scene.send({ ...userMessage('Hi'), conversation_id });
  await waitUntil(async () => (await scene.messages(conversation_id)).length === 2);
  expect(await scene.messages(conversation_id)).toMatchObject([
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: ANSWER, model: 'm' },
  ]);
});

describe('refused before a stream is created:', () => {
  test.each([
    {
      why: 'an unknown model',
      params: { model: 'missing' },
      message: 'No backend available for model: missing',
    },
    {
      why: 'a provider that does not serve the model',
      params: { provider: 'missing' },
      message: 'No backend available for model: m',
    },
    {
      why: 'a conversation that does not exist',
      params: { conversation_id: newId() },
      message: 'conversation not found',
    },
  ])('$why', async ({ params, message }) => {
    const before = upstream.requestCount;
    expect(
      await scene.ann.refusal('chat.send', { model: 'm', ...userMessage('Hi'), ...params }),
    ).toEqual({
      code: -32_000,
      message,
    });
    expect(upstream.requestCount).toBe(before);
  });

  test('a conversation of another user', async () => {
    const conversation_id = await scene.conversation();
    const params = { model: 'm', ...userMessage('Hi'), conversation_id };
    expect(await scene.bob.refusal('chat.send', params)).toEqual({
      code: -32_000,
      message: 'conversation not found',
    });
    expect(await scene.messages(conversation_id)).toEqual([]);
  });

  test('a model whose backends are all unwell, and nothing is written down', async () => {
    const down = await startChatUpstream({ models: ['down'] });
    await scene.addBackend('down', down.url, 'external', ['down']);
    await down.refuse();
    await scene.runtime.router.probe('down');
    const conversation_id = await scene.conversation();
    const params = { model: 'down', ...userMessage('Hi'), conversation_id };
    expect(await scene.ann.refusal('chat.send', params)).toEqual({
      code: -32_000,
      message: 'all backends unhealthy',
    });
    expect(await scene.messages(conversation_id)).toEqual([]);
    await scene.removeBackend('down');
    await down.close();
  });

  test('a quota that is used up', async () => {
    const { plans } = scene.test.context.database;
    const free = { monthlyUsdQuota: 1, monthlyTokenQuota: 0, rpm: 10 };
    await plans.saveTier('free', free);
    expect(await scene.ann.refusal('chat.send', { model: 'm', ...userMessage('Hi') })).toEqual({
      code: -32_006,
      message:
        "monthly quota exceeded: the tier 'free' allows 0 tokens per month. " +
        'The account is ann@example.com, an admin. Set a larger tier in the console under People, or with: gateway plan set ann@example.com enterprise',
    });
    await plans.saveTier('free', { ...free, monthlyTokenQuota: 100_000 });
  });
});

describe('other models', () => {
  let spare: RunningChatUpstream;
  beforeAll(async () => {
    spare = await startChatUpstream({ models: ['spare'], answer: () => ANSWER });
    await scene.addBackend('spare', spare.url, 'external', ['spare']);
  });
  afterAll(async () => {
    await scene.removeBackend('spare');
    await spare.close();
  });
  const send = { ...userMessage('Hi'), models: ['nowhere', 'spare'] };

  test.each([
    { why: 'has no backend', model: 'missing', isFailing: false },
    { why: 'fails', model: 'm', isFailing: true },
  ])('are tried in order when the model $why', async ({ model, isFailing }) => {
    if (isFailing) upstream.faults.next({ kind: 'status', status: 500 });
    const received = await scene.ask({ ...send, model });
    expect(textOf(received)).toBe(ANSWER);
    expect(received.at(-1)).toMatchObject({ is_complete: true, model: 'spare' });
    expect((await scene.usage()).at(-1)).toMatchObject({ model: 'spare', upstream: 'spare' });
    expect(spare.requests.at(-1)?.body).not.toHaveProperty('models');
  });

  test('are not tried when the model answers', async () => {
    const before = spare.requestCount;
    expect(textOf(await scene.ask(send))).toBe(ANSWER);
    expect((await scene.usage()).at(-1)).toMatchObject({ model: 'm' });
    expect(spare.requestCount).toBe(before);
  });

  test('leave the last refusal, and must be a list of names', async () => {
    const refusal = (models: unknown) =>
      scene.ann.refusal('chat.send', { ...userMessage('Hi'), model: 'missing', models });
    expect(await refusal(['nowhere'])).toEqual({
      code: -32_000,
      message: 'No backend available for model: nowhere',
    });
    expect(await refusal('spare')).toMatchObject({ code: -32_602 });
  });
});

test('another authenticated user may not listen', async () => {
  upstream.faults.next({ kind: 'slow-chunks', delayMs: 20 });
  const { stream_id } = await scene.send(userMessage('Hi'));
  const url = eventsUrl(scene.url, stream_id);
  const open = (token: string) => openStream(url, { authorization: `Bearer ${token}` });
  const otherUser = await open(scene.bob.token);
  expect(otherUser.status).toBe(403);
  otherUser.close();
  expect(textOf(await readToEnd(await open(scene.ann.token)))).toBe(ANSWER);
});

test('without Redis a process serves the listeners that are connected to it', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'model-gateway-chat-'));
  const bus = createBus({ dataDir, log: silentLog });
  await bus.start();
  const alone = await startChatScene({}, { bus });
  await alone.addBackend('up', upstream.url);
  const received = await Promise.all([alone.ask(userMessage('Hi')), alone.ask(userMessage('Hi'))]);
  expect(received.map(textOf)).toEqual([ANSWER, ANSWER]);
  await alone.test.close();
  await bus.close();
  await rm(dataDir, { recursive: true, force: true });
});

test('accepted turns are counted, refused ones are not', async () => {
  const total = async () => (await scene.runtime.requests.read()).total;
  const before = await total();
  await scene.ask(userMessage('Hi'));
  await scene.ann.refusal('chat.send', { model: 'missing', ...userMessage('Hi') });
  expect((await total()) - before).toBe(1);
});

test('fields of the service never reach the upstream', async () => {
  const params = { temperature: 0.5, max_tokens: 3, memory: false, provider: 'up' };
  const received = await scene.ask({
    ...userMessage('Hi'),
    ...params,
    extra: { top_p: 1, model: 'x' },
  });
  expect(textOf(received)).toBe('one two three');
  expect(received.at(-1)).toMatchObject({ finish_reason: 'length' });
  expect(upstream.lastRequest?.body).toEqual({
    model: 'm',
    messages: [{ role: 'user', content: 'Hi' }],
    temperature: 0.5,
    max_tokens: 3,
    top_p: 1,
    stream: true,
    stream_options: { include_usage: true },
  });
});
