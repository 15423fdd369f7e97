import { startChatUpstream, type RunningChatUpstream } from '@model-gateway/testkit/upstreams';
import {
  eventsUrl,
  readToEnd,
  saying,
  startChatScene,
  textOf,
  type ChatScene,
} from './chat-scene.ts';
import { openStream } from './rpc-server.ts';

const ANSWER = 'one two three four five';

let scene: ChatScene;
let upstream: RunningChatUpstream;
beforeAll(async () => {
  scene = await startChatScene({
    SERVICE_UPSTREAM_IDLE_TIMEOUT_MS: '500',
    SERVICE_BREAKER_FAILURES: '1000',
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

/** A failure is told once, as the last thing, and the token says it to those who only print tokens. */
function expectFailure(said: Awaited<ReturnType<ChatScene['ask']>>, text: string, message: RegExp) {
  expect(textOf(said)).toBe(text);
  expect(said.filter((one) => one.is_complete)).toHaveLength(1);
  const last = said.at(-1);
  const error = last !== undefined && 'error' in last ? last.error : undefined;
  expect(error).toEqual({ code: -32_000, message: expect.stringMatching(message) });
  expect(last?.token).toBe(`Stream error: ${error?.message}`);
}

test.each([
  { why: 'resets the connection', fault: { kind: 'reset' }, message: /./ },
  {
    why: 'answers an error',
    fault: { kind: 'status', status: 400, body: 'no' },
    message: /^upstream 400: no$/,
  },
  { why: 'never answers', fault: { kind: 'hang' }, message: /./ },
  { why: 'answers something else', fault: { kind: 'garbage-json' }, message: /./ },
] as const)(
  'an upstream that $why is a failure, and nobody is charged',
  async ({ fault, message }) => {
    upstream.faults.next(fault);
    const conversation_id = await scene.conversation();
    const said = await scene.ask({ ...saying('Hi'), conversation_id });
    expect(said).toHaveLength(1);
    expectFailure(said, '', message);
    expect(await scene.usage()).toEqual([]);
    expect(await scene.messages(conversation_id)).toMatchObject([{ role: 'user', content: 'Hi' }]);
  },
);

test.each([
  { why: 'is cut off', fault: { kind: 'cut', afterChunks: 3 }, message: /./ },
  { why: 'falls silent', fault: { kind: 'stall', afterChunks: 3 }, message: /./ },
  {
    why: 'reports a failure',
    fault: { kind: 'error-chunk', afterChunks: 3, message: 'out of memory' },
    message: /^out of memory$/,
  },
] as const)(
  'an answer that $why in the middle ends with a failure; what was said is kept and charged',
  async ({ fault, message }) => {
    upstream.faults.next(fault);
    const conversation_id = await scene.conversation();
    expectFailure(await scene.ask({ ...saying('Hi'), conversation_id }), 'one two', message);
    expect(await scene.usage()).toMatchObject([{ prompt_tokens: 1, completion_tokens: 2 }]);
    expect(await scene.messages(conversation_id)).toMatchObject([
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'one two' },
    ]);
  },
);

test('an upstream that is gone when it is asked is a failure', async () => {
  const gone = await startChatUpstream({ models: ['gone'] });
  await scene.addBackend('gone', gone.url);
  await gone.close();
  expectFailure(await scene.ask({ ...saying('Hi'), model: 'gone' }), '', /ECONNREFUSED|refused/);
  await scene.removeBackend('gone');
});

test.each([
  { kind: 'reset' },
  { kind: 'status', status: 503 },
  { kind: 'error-chunk', afterChunks: 1 },
  { kind: 'cut', afterChunks: 1 },
] as const)(
  'before the first token a failure ($kind) goes to another backend, unseen',
  async (fault) => {
    const other = await startChatUpstream({ models: ['n'], answer: () => ANSWER });
    await scene.addBackend('other', other.url);
    upstream.faults.always(fault);
    for (let turn = 0; turn < 4; turn += 1) {
      const said = await scene.ask({ ...saying('Hi'), model: 'n' });
      expect(textOf(said)).toBe(ANSWER);
      expect(said.at(-1)).toMatchObject({ finish_reason: 'stop' });
    }
    expect(upstream.requestCount).toBeGreaterThan(0);
    expect(await scene.usage()).toHaveLength(4);
    await scene.removeBackend('other');
    await other.close();
  },
);

test('garbage between the tokens is left out, and an end without its mark is an end', async () => {
  upstream.faults.next({ kind: 'garbage-line', afterChunks: 2 });
  expect(textOf(await scene.ask(saying('Hi')))).toBe(ANSWER);
  upstream.faults.next({ kind: 'no-done' });
  expect((await scene.ask(saying('Hi'))).at(-1)).toMatchObject({ finish_reason: 'stop' });
});

test('characters that arrive in halves arrive whole', async () => {
  upstream.faults.next({ kind: 'split-utf8' });
  expect(textOf(await scene.ask(saying('Hi')))).toBe(`${ANSWER} Grüße aus 世界 👋🏽`);
});

test('a conversation that is deleted meanwhile is no failure of the answer', async () => {
  const conversation_id = await scene.conversation();
  upstream.faults.next({ kind: 'slow-chunks', delayMs: 20 });
  const { stream_id } = await scene.send({ ...saying('Hi'), conversation_id });
  await scene.ann.call('conversations.delete', { conversation_id });
  const said = await readToEnd(await openStream(eventsUrl(scene.url, stream_id)));
  expect(textOf(said)).toBe(ANSWER);
  expect(said.at(-1)).toMatchObject({ finish_reason: 'stop' });
  expect(said.at(-1)).not.toHaveProperty('message_id');
});
