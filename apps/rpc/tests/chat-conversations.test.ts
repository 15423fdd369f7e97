import { createGate, waitUntil } from '@model-gateway/testkit';
import { startChatUpstream, type RunningChatUpstream } from '@model-gateway/testkit/upstreams';
import { saying, startChatScene, textOf, type ChatScene } from './chat-scene.ts';

const ROUNDS = 20;

let scene: ChatScene;
let upstream: RunningChatUpstream;
beforeAll(async () => {
  scene = await startChatScene();
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

const asked = (): readonly unknown[] =>
  (upstream.lastRequest?.body as { readonly messages: unknown[] } | undefined)?.messages ?? [];
const titleOf = async (id: string) =>
  ((await scene.ann.call('conversations.get', { id })) as { title: string }).title;

test('a turn is told what was said before, and is kept', async () => {
  const conversation_id = await scene.conversation();
  const messages = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'one' },
  ];
  const said = await scene.ask({ messages, conversation_id });
  await scene.ask({ ...saying('two'), conversation_id });
  expect(asked()).toEqual([
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
  expect(said.at(-1)).toMatchObject({ message_id: kept[2]?.['id'] });
  expect(kept[0]).toMatchObject({ age: 'just now', created_at: expect.any(String) });
});

test('what was asked is there as soon as the call is answered', async () => {
  const conversation_id = await scene.conversation();
  const gate = createGate();
  upstream.faults.next({ kind: 'held', until: gate.opened });
  await scene.send({ ...saying('one'), conversation_id });
  expect(await scene.messages(conversation_id)).toMatchObject([{ role: 'user', content: 'one' }]);
  gate.open();
});

test('images are kept, and given to the model again', async () => {
  const conversation_id = await scene.conversation();
  const image = 'data:image/png;base64,iVBORw0KGgo=';
  const part = { type: 'image_url', image_url: { url: image } };
  const text = { type: 'text', text: 'look' };
  await scene.ask({
    messages: [{ role: 'user', content: 'see', images: [image] }],
    conversation_id,
  });
  await scene.ask({ messages: [{ role: 'user', content: [text, part] }], conversation_id });
  await scene.ask({ ...saying('well?'), conversation_id });
  expect(asked()).toMatchObject([
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

test('a conversation without a title takes it from the first words; a chosen one stays', async () => {
  const untitled = await scene.conversation();
  const chosen = await scene.conversation({ title: 'Mine' });
  await scene.ask({
    ...saying(`  What is\na ${'very '.repeat(20)}cat?`),
    conversation_id: untitled,
  });
  await scene.ask({ ...saying('And a dog?'), conversation_id: untitled });
  await waitUntil(async () => (await scene.messages(untitled)).length === 4);
  await scene.ask({ ...saying('And a dog?'), conversation_id: chosen });
  expect(await titleOf(untitled)).toBe(
    'What is a very very very very very very very very very very…',
  );
  expect(await titleOf(chosen)).toBe('Mine');
  const listed = (await scene.ann.call('conversations.list')) as { id: string }[];
  const both = listed.map(({ id }) => id).filter((id) => id === chosen || id === untitled);
  expect(both).toEqual([chosen, untitled]);
});

test('turns at once in one conversation keep each reply right after what it answers', async () => {
  const conversation_id = await scene.conversation();
  upstream.faults.always({ kind: 'slow-chunks', delayMs: 5 });
  const answers = await Promise.all(
    Array.from({ length: ROUNDS }, (_, round) =>
      scene.ask({ ...saying(`question ${round}`), conversation_id }),
    ),
  );
  upstream.faults.clear();
  answers.forEach((said, round) => expect(textOf(said)).toBe(`to question ${round}`));
  const kept = await scene.messages(conversation_id);
  expect(kept).toHaveLength(2 * ROUNDS);
  for (let at = 0; at < kept.length; at += 2)
    expect(kept[at + 1]?.['content']).toBe(`to ${String(kept[at]?.['content'])}`);
});

test('of a long conversation the model is told the newest messages, from one that can begin it', async () => {
  const conversation_id = await scene.conversation();
  const said = Array.from({ length: 150 }, (_, round) => [
    { role: 'user', content: `${round}` },
    { role: 'assistant', content: `to ${round}` },
  ]).flat();
  await scene.test.context.database.conversations.addTurn(conversation_id, [
    ...said,
    { role: 'user', content: 'last' },
  ]);
  await scene.ask({ ...saying('now'), conversation_id });
  // The newest 200, of which the first is an answer to nobody.
  expect(asked()).toHaveLength(200);
  expect(asked()[0]).toEqual({ role: 'user', content: '51' });
  expect(asked().at(-1)).toEqual({ role: 'user', content: 'now' });
});
