import { fullTable, recordWhile, rpcCall, waitUntil } from '@model-gateway/testkit';
import {
  startChatUpstream,
  type ChatFault,
  type RunningChatUpstream,
} from '@model-gateway/testkit/upstreams';
import {
  eventsUrl,
  readToEnd,
  userMessage,
  startChatScene,
  textOf,
  type ChatScene,
} from './chat-scene.ts';
import { openStream } from '../rpc-server.ts';

const ANSWER = 'one two three four five';

let scene: ChatScene;
let upstream: RunningChatUpstream;
beforeAll(async () => {
  scene = await startChatScene({
    SERVICE_UPSTREAM_IDLE_TIMEOUT_MS: '1500',
    SERVICE_BREAKER_FAILURES: '1000',
    SERVICE_LOG_BODIES: '1',
  });
  upstream = await startChatUpstream({ models: ['m', 'n'], answer: () => ANSWER });
  await scene.addBackend('up', upstream.url);
});
afterAll(async () => {
  await scene.test.close();
  await upstream.close();
});
beforeEach(() => scene.usage());
afterEach(() => upstream.faults.clear());

/** A failure is the last notification and is sent once; its token contains it for clients that only print tokens. */
function expectFailure(
  received: Awaited<ReturnType<ChatScene['ask']>>,
  text: string,
  message: RegExp,
  data?: object,
) {
  expect(textOf(received)).toBe(text);
  expect(received.filter((one) => one.is_complete)).toHaveLength(1);
  const last = received.at(-1);
  const error = last !== undefined && 'error' in last ? last.error : undefined;
  expect(error).toEqual({ code: -32_000, message: expect.stringMatching(message), data });
  expect(last?.token).toBe(`Stream error: ${error?.message}`);
}

const FAULTS: readonly {
  readonly why: string;
  readonly fault: ChatFault;
  readonly message: RegExp;
  readonly data?: object;
}[] = [
  { why: 'resets the connection', fault: { kind: 'reset' }, message: /./ },
  {
    why: 'returns an error',
    fault: {
      kind: 'status',
      status: 400,
      retryAfterSecs: 3,
      body: { error: { message: 'no', code: 'bad', param: 'n' } },
    },
    message: /^upstream 400: no$/,
    data: {
      upstream: { status: 400, message: 'no', code: 'bad', param: 'n' },
      retry_after_secs: 3,
    },
  },
  { why: 'never responds', fault: { kind: 'hang' }, message: /./ },
  { why: 'returns invalid JSON', fault: { kind: 'garbage-json' }, message: /./ },
];

test.each(fullTable(FAULTS, { small: 3 }))(
  'an upstream that $why is a failure, and nothing is charged',
  async ({ fault, message, data }) => {
    upstream.faults.next(fault);
    const conversation_id = await scene.conversation();
    const received = await scene.ask({ ...userMessage('Hi'), conversation_id });
    expect(received).toHaveLength(1);
    expectFailure(received, '', message, data);
    expect(await scene.usage()).toEqual([]);
    expect(await scene.messages(conversation_id)).toMatchObject([{ role: 'user', content: 'Hi' }]);
  },
);

test.each([
  { why: 'is cut off', fault: { kind: 'cut', afterChunks: 3 }, message: /./ },
  { why: 'stalls', fault: { kind: 'stall', afterChunks: 3 }, message: /./ },
  {
    why: 'reports a failure',
    fault: { kind: 'error-chunk', afterChunks: 3, message: 'out of memory' },
    message: /^out of memory$/,
  },
] as const)(
  'a response that $why in the middle ends with a failure; the received part is stored and charged',
  async ({ fault, message }) => {
    upstream.faults.next(fault);
    const conversation_id = await scene.conversation();
    expectFailure(await scene.ask({ ...userMessage('Hi'), conversation_id }), 'one two', message);
    expect(await scene.usage()).toMatchObject([{ prompt_tokens: 1, completion_tokens: 2 }]);
    expect(await scene.messages(conversation_id)).toMatchObject([
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'one two' },
    ]);
  },
);

test('an upstream that has stopped is a failure', async () => {
  const stopped = await startChatUpstream({ models: ['stopped'] });
  await scene.addBackend('stopped', stopped.url);
  await stopped.close();
  const received = await scene.ask({ ...userMessage('Hi'), model: 'stopped' });
  expectFailure(received, '', /ECONNREFUSED|refused/);
  await scene.removeBackend('stopped');
});

test('the bodies of a turn are kept where the service says so', async () => {
  const { requestLog } = scene.test.context.database;
  await scene.ask({ ...userMessage('What is kept?'), model: 'm' });
  const [event] = await scene.usage();
  const id = event?.id ?? '';
  await waitUntil(async () => (await requestLog.bodiesOf(id)) !== undefined);
  expect(await requestLog.bodiesOf(id)).toEqual({
    request: expect.stringContaining('What is kept?'),
    answer: ANSWER,
  });
});

test('a turn that fails before or after it is accepted is in the request log', async () => {
  const { requestLog } = scene.test.context.database;
  const found = async (model: string) =>
    (await requestLog.list({ model }, { limit: 1 })).requests[0];
  const other = await startChatUpstream({ models: ['faulty'] });
  await scene.addBackend('faulty', other.url);
  other.faults.always({ kind: 'status', status: 500 });
  const { stream_id } = (await scene.ann.call('requests.watch')) as { stream_id: string };
  const watched = await openStream(eventsUrl(scene.url, stream_id));
  expect(await watched.next()).toBe(': connected');
  await recordWhile(scene.test.context, async () => {
    await scene.ask({ ...userMessage('Hi'), model: 'faulty' });
    await expect(scene.ask({ ...userMessage('Hi'), model: 'nowhere' })).rejects.toThrow(/./);
    expect(await watched.next()).toContain('"requests.changed"');
    await waitUntil(async () => (await found('nowhere')) !== undefined);
  });
  watched.close();
  expect(await found('nowhere')).toMatchObject({
    surface: 'rpc',
    status: 404,
    errorCode: 'model_not_found',
    attempts: null,
  });
  expect(await found('faulty')).toMatchObject({
    status: 502,
    errorCode: 'bad_gateway',
    upstream: 'faulty',
    attempts: [{ backend: 'faulty', outcome: 'failed', status: 500 }],
  });
  const failed = { request_id: (await found('faulty'))?.id };
  await waitUntil(async () => {
    const { bodies } = (await scene.ann.call('requests.get', failed)) as { bodies: unknown };
    return bodies !== null;
  });
  expect(await scene.ann.call('requests.get', failed)).toMatchObject({
    bodies: { request: expect.stringContaining('"content":"Hi"'), answer: null },
    cache_write_tokens: null,
    images: null,
    audio_seconds: null,
    media_tokens: null,
    price: null,
    cached: false,
  });
  await scene.removeBackend('faulty');
  await other.close();
});

const EARLY_FAULTS = [
  { kind: 'status', status: 503 },
  { kind: 'cut', afterChunks: 1 },
  { kind: 'reset' },
  { kind: 'error-chunk', afterChunks: 1 },
] as const;

test.each(fullTable(EARLY_FAULTS, { small: 2 }))(
  'before the first token a failure ($kind) is retried on another backend, invisible to the client',
  async (fault) => {
    const other = await startChatUpstream({ models: ['n'], answer: () => ANSWER });
    await scene.addBackend('other', other.url);
    upstream.faults.always(fault);
    for (let turn = 0; turn < 4; turn += 1) {
      const received = await scene.ask({ ...userMessage('Hi'), model: 'n' });
      expect(textOf(received)).toBe(ANSWER);
      expect(received.at(-1)).toMatchObject({ finish_reason: 'stop' });
    }
    expect(upstream.requestCount).toBeGreaterThan(0);
    expect(await scene.usage()).toHaveLength(4);
    await scene.removeBackend('other');
    await other.close();
  },
);

test('a model that its upstream limits is refused at once, with the time of the next try', async () => {
  const limited = await startChatUpstream({ models: ['limited'] });
  await scene.addBackend('limited', limited.url);
  const body = { error: { message: 'slow down', code: 'rate_limited' } };
  limited.faults.next({ kind: 'status', status: 429, retryAfterSecs: 50, body });
  const question = { ...userMessage('Hi'), model: 'limited' };
  expectFailure(await scene.ask(question), '', /^upstream 429: slow down$/, {
    upstream: { status: 429, message: 'slow down', code: 'rate_limited' },
    retry_after_secs: 50,
  });
  const { error } = await rpcCall(scene.url, 'chat.send', question, scene.ann.token);
  expect(error).toMatchObject({
    code: -32_000,
    message: expect.stringMatching(/^the upstream of model 'limited' limits its requests/),
    data: { retry_after_secs: expect.any(Number) },
  });
  await scene.removeBackend('limited');
  await limited.close();
});

test('invalid events between the tokens are skipped, and a stream may end without its mark', async () => {
  upstream.faults.next({ kind: 'garbage-line', afterChunks: 2 });
  expect(textOf(await scene.ask(userMessage('Hi')))).toBe(ANSWER);
  upstream.faults.next({ kind: 'no-done' });
  expect((await scene.ask(userMessage('Hi'))).at(-1)).toMatchObject({ finish_reason: 'stop' });
});

test('characters that are split across packets arrive complete', async () => {
  upstream.faults.next({ kind: 'split-utf8' });
  expect(textOf(await scene.ask(userMessage('Hi')))).toBe(`${ANSWER} Grüße aus 世界 👋🏽`);
});

test('a conversation that is deleted meanwhile does not fail the response', async () => {
  const conversation_id = await scene.conversation();
  upstream.faults.next({ kind: 'slow-chunks', delayMs: 20 });
  const { stream_id } = await scene.send({ ...userMessage('Hi'), conversation_id });
  await scene.ann.call('conversations.delete', { conversation_id });
  const received = await readToEnd(await openStream(eventsUrl(scene.url, stream_id)));
  expect(textOf(received)).toBe(ANSWER);
  expect(received.at(-1)).toMatchObject({ finish_reason: 'stop' });
  expect(received.at(-1)).not.toHaveProperty('message_id');
});
