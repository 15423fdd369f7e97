import { newId } from '@model-gateway/kernel';
import { createGate, readStream, waitUntil } from '@model-gateway/testkit';
import { startChatUpstream, type RunningChatUpstream } from '@model-gateway/testkit/upstreams';
import { registerBackend, startGateway, type GatewayUnderTest } from '../gateway.ts';

const REPLY = 'one two three four five';
const IMAGE = 'data:image/png;base64,iVBORw0KGgo=';

let gateway: GatewayUnderTest;
let upstream: RunningChatUpstream;
let conversation_id = '';

beforeAll(async () => {
  gateway = await startGateway({
    SERVICE_API_RATE_LIMIT_RPM: '100000',
    SERVICE_BREAKER_FAILURES: '1000',
  });
  upstream = await startChatUpstream({ models: ['m'], answer: () => REPLY });
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
    body: JSON.stringify({ model: 'm', conversation_id, ...userMessage('Hi'), ...body }),
    ...(signal === undefined ? {} : { signal }),
  });
}

const userMessage = (content: unknown) => ({ messages: [{ role: 'user', content }] });
const found = async () => {
  const { conversations } = gateway.test.context.database;
  return conversations.find(gateway.userId, conversation_id, {
    messagesMax: 100,
    bytesMax: 1024 * 1024,
    messageBytesMax: 1024 * 1024,
  });
};
const storedMessages = async () => (await found())?.messages ?? [];
/** A turn does not wait long for a slow store, so that the client may get its response before the turn is stored. */
const waitForMessages = async (count: number) => {
  await waitUntil(async () => (await storedMessages()).length === count);
  return storedMessages();
};

describe.each([{ stream: false }, { stream: true }])(
  'a turn with `stream: $stream`',
  ({ stream }) => {
    test('is sent unchanged; its last user message and the reply are stored', async () => {
      const messages = [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'first' },
        { role: 'assistant', content: 'well' },
        { role: 'user', content: 'second' },
      ];
      await (await ask({ messages, stream })).text();
      expect(upstream.lastRequest?.body).toMatchObject({ messages });
      expect(upstream.lastRequest?.body).not.toHaveProperty('conversation_id');
      expect(await waitForMessages(2)).toMatchObject([
        { role: 'user', content: 'second' },
        { role: 'assistant', content: REPLY, model: 'm' },
      ]);
      expect((await found())?.conversation.title).toBe('second');
    });

    test('stores images, tool calls and the tool results', async () => {
      const look = { name: 'look', parameters: { required: ['at'], properties: { at: {} } } };
      const tools = [{ type: 'function', function: look }];
      const asked = { role: 'user', content: 'call look', images: [IMAGE] };
      await (await ask({ messages: [asked], tools, stream })).text();
      const [user, reply] = await waitForMessages(2);
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
      expect((await waitForMessages(4)).slice(2)).toMatchObject([
        { role: 'tool', content: 'seen' },
        { role: 'assistant', content: REPLY },
      ]);
    });

    test('that fails stores the user message and no reply', async () => {
      upstream.faults.next({ kind: 'status', status: 400 });
      expect((await ask({ stream })).status).toBe(502);
      expect(await waitForMessages(1)).toMatchObject([{ role: 'user', content: 'Hi' }]);
    });

    test('for a model without a backend stores nothing', async () => {
      expect((await ask({ stream, model: 'missing' })).status).toBe(404);
      expect(await storedMessages()).toEqual([]);
    });

    test('whose conversation is deleted meanwhile still gets a response', async () => {
      const gate = createGate();
      upstream.faults.next({ kind: 'held', until: gate.opened });
      const asking = ask({ stream });
      await waitForMessages(1);
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

test('the received part of an interrupted response is stored', async () => {
  upstream.faults.next({ kind: 'cut', afterChunks: 3 });
  expect((await readStream(await ask({ stream: true }))).text).toContain('"error"');
  expect(await waitForMessages(2)).toMatchObject([
    { content: 'Hi' },
    { role: 'assistant', content: 'one two' },
  ]);
});

test('the received part of a response is stored when the client disconnects', async () => {
  upstream.faults.next({ kind: 'stall', afterChunks: 3 });
  const leaving = new AbortController();
  const response = await ask({ stream: true }, leaving.signal);
  const reader = response.body?.getReader();
  for (let text = ''; !text.includes('two');) {
    text += new TextDecoder().decode((await reader?.read())?.value);
  }
  leaving.abort();
  await upstream.until(() => upstream.aborted > 0);
  expect(await waitForMessages(2)).toMatchObject([
    { content: 'Hi' },
    { role: 'assistant', content: 'one two' },
  ]);
});

test('concurrent turns store each reply directly after its user message', async () => {
  upstream.faults.always({ kind: 'slow-start', delayMs: 30 });
  const rounds = Array.from({ length: 20 }, (_, round) => round);
  const asking = rounds.map((round) => ask({ ...userMessage(`question ${round}`), stream: true }));
  await Promise.all((await Promise.all(asking)).map((response) => response.text()));
  const messages = await waitForMessages(40);
  messages.forEach(({ role }, at) => expect(role).toBe(at % 2 === 0 ? 'user' : 'assistant'));
});
