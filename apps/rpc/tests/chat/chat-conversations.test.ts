import { createGate, waitUntil } from '@model-gateway/testkit';
import { startChatUpstream, type RunningChatUpstream } from '@model-gateway/testkit/upstreams';
import { openStream } from '../rpc-server.ts';
import {
  eventsUrl,
  readToEnd,
  startChatScene,
  textOf,
  userMessage,
  type ChatScene,
} from './chat-scene.ts';

const ROUNDS = 20;
const STORED_BYTES_MAX = 64 * 1024 * 1024;

let scene: ChatScene;
let upstream: RunningChatUpstream;
beforeAll(async () => {
  scene = await startChatScene({ SERVICE_STORED_BYTES_PER_USER: String(STORED_BYTES_MAX) });
  upstream = await startChatUpstream({
    models: ['m'],
    answer: ({ messages }) => `to ${messages.at(-1)?.text}`,
  });
  await scene.addBackend('up', upstream.url);
});
afterAll(async () => {
  await scene.test.close();
  await upstream.close();
});

const sentMessages = (): readonly unknown[] =>
  (upstream.lastRequest?.body as { readonly messages: unknown[] } | undefined)?.messages ?? [];
const titleOf = async (id: string) =>
  ((await scene.ann.call('conversations.get', { id })) as { title: string }).title;

test('a turn includes the earlier messages, and is stored', async () => {
  const conversation_id = await scene.conversation();
  const messages = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'one' },
  ];
  const received = await scene.ask({ messages, conversation_id });
  await scene.ask({ ...userMessage('two'), conversation_id });
  expect(sentMessages()).toEqual([
    ...messages,
    { role: 'assistant', content: 'to one' },
    { role: 'user', content: 'two' },
  ]);
  const kept = await scene.messages(conversation_id);
  expect(kept).toMatchObject([
    ...messages,
    { role: 'assistant', content: 'to one', model: 'm' },
    { role: 'user', content: 'two' },
    { role: 'assistant', content: 'to two', model: 'm' },
  ]);
  expect(received.at(-1)).toMatchObject({ message_id: kept[2]?.['id'] });
  expect(kept[0]).toMatchObject({ age: 'just now', created_at: expect.any(String) });
});

test('the user message is stored before the call returns', async () => {
  const conversation_id = await scene.conversation();
  const gate = createGate();
  upstream.faults.next({ kind: 'held', until: gate.opened });
  await scene.send({ ...userMessage('one'), conversation_id });
  expect(await scene.messages(conversation_id)).toMatchObject([{ role: 'user', content: 'one' }]);
  gate.open();
});

test('images are stored and sent to the model again', async () => {
  const conversation_id = await scene.conversation();
  const image = 'data:image/png;base64,iVBORw0KGgo=';
  const part = { type: 'image_url', image_url: { url: image } };
  const text = { type: 'text', text: 'look' };
  await scene.ask({
    messages: [{ role: 'user', content: 'see', images: [image] }],
    conversation_id,
  });
  await scene.ask({ messages: [{ role: 'user', content: [text, part] }], conversation_id });
  await scene.ask({ ...userMessage('well?'), conversation_id });
  expect(sentMessages()).toMatchObject([
    { role: 'user', content: [{ type: 'text', text: 'see' }, part] },
    { role: 'assistant', content: 'to see' },
    { role: 'user', content: [text, part] },
    { role: 'assistant', content: 'to look' },
    { role: 'user', content: 'well?' },
  ]);
  const kept = await scene.messages(conversation_id);
  expect(kept[0]).toMatchObject({ content: 'see', images: [image] });
  expect(kept[2]).toMatchObject({ content: 'look', images: [image] });
});

test('a conversation without a title gets one from the first words; a given title stays', async () => {
  const untitled = await scene.conversation();
  const chosen = await scene.conversation({ title: 'Mine' });
  await scene.ask({
    ...userMessage(`  What is\na ${'very '.repeat(20)}cat?`),
    conversation_id: untitled,
  });
  await scene.ask({ ...userMessage('And a dog?'), conversation_id: untitled });
  await waitUntil(async () => (await scene.messages(untitled)).length === 4);
  await scene.ask({ ...userMessage('And a dog?'), conversation_id: chosen });
  expect(await titleOf(untitled)).toBe(
    'What is a very very very very very very very very very very…',
  );
  expect(await titleOf(chosen)).toBe('Mine');
  const listed = (await scene.ann.call('conversations.list')) as { id: string }[];
  const both = listed.map(({ id }) => id).filter((id) => id === chosen || id === untitled);
  expect(both).toEqual([chosen, untitled]);
});

test('concurrent turns in one conversation store each reply directly after its user message', async () => {
  const conversation_id = await scene.conversation();
  upstream.faults.always({ kind: 'slow-chunks', delayMs: 5 });
  const streams = await Promise.all(
    Array.from({ length: ROUNDS }, (_, round) =>
      scene.ask({ ...userMessage(`question ${round}`), conversation_id }),
    ),
  );
  upstream.faults.clear();
  streams.forEach((received, round) => expect(textOf(received)).toBe(`to question ${round}`));
  const kept = await scene.messages(conversation_id);
  expect(kept).toHaveLength(2 * ROUNDS);
  for (let at = 0; at < kept.length; at += 2)
    expect(kept[at + 1]?.['content']).toBe(`to ${String(kept[at]?.['content'])}`);
});

test('of a long conversation the model gets the newest messages, starting with a user message', async () => {
  const conversation_id = await scene.conversation();
  const received = Array.from({ length: 150 }, (_, round) => [
    { role: 'user', content: `${round}` },
    { role: 'assistant', content: `to ${round}` },
  ]).flat();
  await scene.test.context.database.conversations.addTurn(conversation_id, [
    ...received,
    { role: 'user', content: 'last' },
  ]);
  await scene.ask({ ...userMessage('now'), conversation_id });
  // The newest 200; the first of them is a reply without its question.
  expect(sentMessages()).toHaveLength(200);
  expect(sentMessages()[0]).toEqual({ role: 'user', content: '51' });
  expect(sentMessages().at(-1)).toEqual({ role: 'user', content: 'now' });
});

test('a model gets at most 16 MiB of history, whatever the database makes of it', async () => {
  const conversation_id = await scene.conversation();
  const { conversations } = scene.test.context.database;
  // The database compresses each of them to some kilobytes.
  for (const letter of ['a', 'b', 'c'])
    await conversations.addTurn(conversation_id, [
      { role: 'user', content: letter.repeat(7 * 1024 * 1024) },
    ]);
  await scene.ask({ ...userMessage('and?'), conversation_id });
  const lengths = (sentMessages() as { content: string }[]).map(({ content }) => [
    content.slice(0, 1),
    content.length,
  ]);
  expect(lengths).toEqual([
    ['b', 7 * 1024 * 1024],
    ['c', 7 * 1024 * 1024],
    ['a', 4],
  ]);
});

test('the history counts in the memory of large requests until its turn has ended', async () => {
  const conversation_id = await scene.conversation();
  await scene.test.context.database.conversations.addTurn(conversation_id, [
    { role: 'user', content: 'a'.repeat(4 * 1024 * 1024) },
  ]);
  const heldBytes = async (): Promise<number> => {
    const metrics = await scene.test.context.metrics.expose();
    return Number(/^service_request_body_bytes (\d+)$/m.exec(metrics)?.[1]);
  };
  const gate = createGate();
  upstream.faults.next({ kind: 'held', until: gate.opened });
  const { stream_id } = await scene.send({ ...userMessage('and?'), conversation_id });
  expect(await heldBytes()).toBe(4 * 1024 * 1024);
  gate.open();
  await readToEnd(await openStream(eventsUrl(scene.url, stream_id)));
  await waitUntil(async () => (await heldBytes()) === 0);
  await scene.removeBackend('up');
  await scene.ann.refusal('chat.send', { model: 'm', ...userMessage('and?'), conversation_id });
  expect(await heldBytes()).toBe(0);
  await scene.addBackend('up', upstream.url);
});

test('a user at the limit of stored bytes can have no further turns until some are deleted', async () => {
  const { conversations } = scene.test.context.database;
  const [full, empty] = [await scene.conversation(), await scene.conversation()];
  await conversations.addTurn(full, [{ role: 'user', content: 'x'.repeat(STORED_BYTES_MAX) }]);
  for (const conversation_id of [full, empty]) {
    expect(
      await scene.ann.refusal('chat.send', { model: 'm', ...userMessage('hi'), conversation_id }),
    ).toEqual({
      code: -32_006,
      message: expect.stringContaining(`at most ${STORED_BYTES_MAX} bytes`),
    });
  }
  expect(textOf(await scene.ask(userMessage('hi')))).toBe('to hi');
  await scene.ann.call('conversations.delete', { conversation_id: full });
  await scene.ask({ ...userMessage('hi'), conversation_id: empty });
  expect(await scene.messages(empty)).toHaveLength(2);
});
