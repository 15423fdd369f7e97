import { newId } from '@model-gateway/kernel';
import { createGate, waitUntil } from '@model-gateway/testkit';
import { startChatUpstream, type RunningChatUpstream } from '@model-gateway/testkit/upstreams';
import { registerBackend, startGateway, type GatewayUnderTest } from './gateway.ts';

const ANSWER = 'one two three four five';
const IMAGE = 'data:image/png;base64,iVBORw0KGgo=';

let gateway: GatewayUnderTest;
let upstream: RunningChatUpstream;
let conversation_id = '';

beforeAll(async () => {
  gateway = await startGateway({
    SERVICE_API_RATE_LIMIT_RPM: '100000',
    SERVICE_UPSTREAM_IDLE_TIMEOUT_MS: '1000',
    SERVICE_BREAKER_FAILURES: '1000',
  });
  upstream = await startChatUpstream({ models: ['m'], answer: () => ANSWER });
  await registerBackend(gateway, { type: 'external', name: 'up', url: upstream.url });
});
beforeEach(async () => {
  conversation_id = newId();
  const { conversations } = gateway.test.context.database;
  const title = 'New Conversation';
  await conversations.create({ id: conversation_id, userId: gateway.userId, title });
});
afterEach(() => upstream.faults.clear());
afterAll(async () => {
  await gateway.test.close();
  await upstream.close();
});

function ask(body: object, signal?: AbortSignal): Promise<Response> {
  return fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}` },
    body: JSON.stringify({ model: 'm', conversation_id, ...saying('Hi'), ...body }),
    ...(signal === undefined ? {} : { signal }),
  });
}

const saying = (content: unknown) => ({ messages: [{ role: 'user', content }] });
const found = async () => {
  const { conversations } = gateway.test.context.database;
  return conversations.find(gateway.userId, conversation_id, 100);
};
const kept = async () => (await found())?.messages ?? [];

describe.each([{ stream: false }, { stream: true }])(
  'a turn with `stream: $stream`',
  ({ stream }) => {
    test('is sent as the client wrote it; its last user message and the reply are kept', async () => {
      const messages = [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'first' },
        { role: 'assistant', content: 'well' },
        { role: 'user', content: 'second' },
      ];
      await (await ask({ messages, stream })).text();
      expect(upstream.lastRequest?.body).toMatchObject({ messages });
      expect(upstream.lastRequest?.body).not.toHaveProperty('conversation_id');
      expect(await kept()).toMatchObject([
        { role: 'user', content: 'second' },
        { role: 'assistant', content: ANSWER, model: 'm' },
      ]);
      expect((await found())?.conversation.title).toBe('second');
    });

    test('keeps images and tool calls, and then what the tools answered', async () => {
      const look = { name: 'look', parameters: { required: ['at'], properties: { at: {} } } };
      const tools = [{ type: 'function', function: look }];
      const asked = { role: 'user', content: 'call look', images: [IMAGE] };
      await (await ask({ messages: [asked], tools, stream })).text();
      const [user, reply] = await kept();
      expect(user).toMatchObject({ content: 'call look', images: [IMAGE] });
      const calls = [
        {
          id: expect.any(String),
          type: 'function',
          function: { name: 'look', arguments: '{"at":"example"}' },
        },
      ];
      expect(reply).toMatchObject({ role: 'assistant', content: '', toolCalls: calls });
      const called = { role: 'assistant', content: null, tool_calls: reply?.toolCalls };
      const result = { role: 'tool', tool_call_id: 'call', content: 'seen' };
      await (await ask({ messages: [asked, called, result], tools, stream })).text();
      expect((await kept()).slice(2)).toMatchObject([
        { role: 'tool', content: 'seen' },
        { role: 'assistant', content: ANSWER },
      ]);
    });

    test('that fails keeps what was asked and no reply', async () => {
      upstream.faults.next({ kind: 'status', status: 400 });
      expect((await ask({ stream })).status).toBe(502);
      await waitUntil(async () => (await kept()).length === 1);
      expect(await kept()).toMatchObject([{ role: 'user', content: 'Hi' }]);
    });

    test('for a model that nobody serves keeps nothing', async () => {
      expect((await ask({ stream, model: 'nobody' })).status).toBe(404);
      expect(await kept()).toEqual([]);
    });

    test('whose conversation is deleted meanwhile is answered all the same', async () => {
      const gate = createGate();
      upstream.faults.next({ kind: 'held', until: gate.opened });
      const asking = ask({ stream });
      await waitUntil(async () => (await kept()).length === 1);
      await gateway.test.context.database.conversations.remove(gateway.userId, conversation_id);
      gate.open();
      const response = await asking;
      expect(response.status).toBe(200);
      const text = await response.text();
      expect(text).toContain('five');
      expect(text).not.toContain('"error"');
    });
  },
);

test('of an answer that broke off what was said is kept', async () => {
  upstream.faults.next({ kind: 'cut', afterChunks: 3 });
  expect(await (await ask({ stream: true })).text()).toContain('"error"');
  expect(await kept()).toMatchObject([
    { content: 'Hi' },
    { role: 'assistant', content: 'one two' },
  ]);
});

test('of an answer whose client hung up what was said is kept', async () => {
  upstream.faults.next({ kind: 'stall', afterChunks: 3 });
  const leaving = new AbortController();
  const response = await ask({ stream: true }, leaving.signal);
  const reader = response.body?.getReader();
  for (let text = ''; !text.includes('two');) {
    text += new TextDecoder().decode((await reader?.read())?.value);
  }
  leaving.abort();
  await upstream.until(() => upstream.aborted > 0);
  await waitUntil(async () => (await kept()).length === 2);
  expect(await kept()).toMatchObject([
    { content: 'Hi' },
    { role: 'assistant', content: 'one two' },
  ]);
});

test('turns at once keep each reply right after what it answers', async () => {
  upstream.faults.always({ kind: 'slow-start', delayMs: 30 });
  const rounds = Array.from({ length: 20 }, (_, round) => round);
  const asking = rounds.map((round) => ask({ ...saying(`question ${round}`), stream: true }));
  await Promise.all((await Promise.all(asking)).map((response) => response.text()));
  const messages = await kept();
  expect(messages).toHaveLength(40);
  messages.forEach(({ role }, at) => expect(role).toBe(at % 2 === 0 ? 'user' : 'assistant'));
});
