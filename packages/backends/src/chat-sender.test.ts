import type { UpstreamChat } from '@model-gateway/contracts';
import { UpstreamFailure } from '@model-gateway/router';
import { createChatSender } from './chat-sender.ts';
import { upstreamRefused } from './errors/upstream-error.ts';
import { listOf, textOf } from './fields.ts';

const options = { mayLeaveEffort: true };
const message = (role: string, content: unknown) => ({ role, content });
const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
const several = [
  message('system', 'Be brief.'),
  message('developer', 'Be kind.'),
  message('user', [{ type: 'text', text: 'What is this?' }, image]),
  message('system', 'It is noon.'),
  message('user', 'Well?'),
  message('assistant', 'A cat.'),
  message('system', 'Be quick.'),
  message('tool', 'done'),
  message('user', 'A'),
  message('user', 'B'),
];

/** Answers with the messages that were sent, unless there are more system messages than a template takes. */
function strictServer(status: number, text: string) {
  const tries: unknown[] = [];
  const send = async (body: UpstreamChat): Promise<unknown> => {
    const messages = listOf(body, 'messages');
    tries.push(messages);
    const isStrict = messages.slice(1).some((sent) => textOf(sent, 'role') === 'system');
    if (isStrict) throw upstreamRefused(status, JSON.stringify({ error: { message: text } }), null);
    return messages;
  };
  return { tries, send };
}

test.each([
  { status: 400, text: 'System message must be at the beginning.' },
  { status: 500, text: 'Jinja Exception: System message must be at the beginning.' },
  { status: 400, text: 'conversation roles must alternate user/assistant/user/assistant/...' },
])('a model that takes one system message is asked again: $text', async ({ status, text }) => {
  const { tries, send } = strictServer(status, text);
  const sendChat = createChatSender();
  const body = { model: 'm', messages: several };
  expect(await sendChat(body, options, send)).toEqual({
    ignored: ['messages.role'],
    answer: [
      message('system', 'Be brief.\n\nBe kind.'),
      message('user', [
        { type: 'text', text: 'What is this?' },
        image,
        { type: 'text', text: 'It is noon.' },
        { type: 'text', text: 'Well?' },
      ]),
      message('assistant', 'A cat.'),
      message('user', 'Be quick.'),
      message('tool', 'done'),
      message('user', 'A'),
      message('user', 'B'),
    ],
  });
  await sendChat(body, options, send);
  expect(tries).toHaveLength(3);
  await sendChat({ ...body, model: 'other' }, options, send);
  expect(tries).toHaveLength(5);
});

test('other failures stay, and so do messages that nothing refuses', async () => {
  const sendChat = createChatSender();
  const { tries, send } = strictServer(400, 'the context is too long');
  const body = { model: 'm', messages: several };
  await expect(sendChat(body, options, send)).rejects.toThrow(UpstreamFailure);
  expect(tries).toHaveLength(1);
  expect(await sendChat(body, options, async ({ messages }) => messages)).toEqual({
    answer: several,
    ignored: [],
  });
});

const effortful = { model: 'm', messages: [message('user', 'Hi')], reasoning_effort: 'high' };

/** Refuses an effort, and what else the body has that it does not take. */
function plainServer(status: number, text: string) {
  const tries: unknown[] = [];
  const send = async (body: UpstreamChat): Promise<unknown> => {
    tries.push(body['reasoning_effort']);
    if (body['reasoning_effort'] === undefined) return body['messages'];
    throw upstreamRefused(status, JSON.stringify({ error: { message: text } }), null);
  };
  return { tries, send };
}

test.each([
  {
    status: 400,
    text: "Unsupported parameter: 'reasoning_effort' is not supported with this model.",
  },
  { status: 400, text: 'Model grok-4 does not support parameter reasoningEffort.' },
  { status: 400, text: '"llama3.2" does not support thinking' },
  { status: 422, text: 'reasoning_effort: Extra inputs are not permitted' },
])(
  'a model that does not think is asked again without an effort: $text',
  async ({ status, text }) => {
    const { tries, send } = plainServer(status, text);
    const sendChat = createChatSender();
    const sent = { answer: effortful.messages, ignored: ['reasoning_effort'] };
    expect(await sendChat(effortful, options, send)).toEqual(sent);
    expect(await sendChat(effortful, options, send)).toEqual(sent);
    expect(tries).toEqual(['high', undefined, undefined]);
    // Another effort may be one that it takes.
    await sendChat({ ...effortful, reasoning_effort: 'low' }, options, send);
    expect(tries.slice(3)).toEqual(['low', undefined]);
  },
);

test('an effort that must not be left out stays', async () => {
  const { tries, send } = plainServer(400, 'reasoning_effort is not supported');
  const sendChat = createChatSender();
  await expect(sendChat(effortful, { mayLeaveEffort: false }, send)).rejects.toThrow(
    UpstreamFailure,
  );
  expect(tries).toEqual(['high']);
});

test('a model can refuse both', async () => {
  const strict = strictServer(400, 'System message must be at the beginning.');
  const plain = plainServer(400, 'reasoning_effort is not supported');
  const sendChat = createChatSender();
  const body = { model: 'm', messages: several, reasoning_effort: 'high' };
  const sent = await sendChat(body, options, async (chat) => {
    await plain.send(chat);
    return strict.send(chat);
  });
  expect(sent.ignored).toEqual(['reasoning_effort', 'messages.role']);
});
