import type { ChatMessage } from '@model-gateway/contracts';
import { toHistory, toStored, toStoredReply } from './stored-message.ts';

const image = { type: 'image_url', image_url: { url: 'https://example.com/a.png' } };

test.each<{ what: string; message: ChatMessage }>([
  { what: 'words', message: { role: 'user', content: 'Hi' } },
  { what: 'words and images', message: { role: 'user', content: 'Hi', images: ['AA=='] } },
  { what: 'parts', message: { role: 'user', content: [{ type: 'text', text: 'Hi' }, image] } },
  { what: 'a name', message: { role: 'system', content: 'Hi', name: 'ann' } },
])('$what are given to a model again as they were said', ({ message }) => {
  expect(toHistory([toStored(message)])).toEqual([message]);
});

test('calls and what their tools answered stay together', () => {
  const turn: ChatMessage[] = [
    { role: 'user', content: 'Look.' },
    { role: 'assistant', content: null, tool_calls: [{ id: 'c' }] },
    { role: 'tool', content: 'seen', tool_call_id: 'c' },
  ];
  expect(toHistory(turn.map(toStored))).toEqual(turn);
});

test('the words of a message in parts are kept as words, too', () => {
  const parts = [{ type: 'text', text: 'one' }, image, { type: 'text', text: 'two' }];
  expect(toStored({ role: 'user', content: parts })).toEqual({
    role: 'user',
    content: 'one\ntwo',
    extra: { content: parts },
  });
});

test('a reply is kept with its model, and with its calls if there are any', () => {
  expect(toStoredReply({ content: 'Hi', toolCalls: [] }, 'm')).toEqual({
    role: 'assistant',
    content: 'Hi',
    model: 'm',
  });
  expect(toStoredReply({ content: '', toolCalls: [{ id: 'c' }] }, 'm')).toMatchObject({
    toolCalls: [{ id: 'c' }],
  });
});

test('a history begins with something that can begin one', () => {
  const said = ['tool', 'assistant', 'user', 'assistant'].map((role) => ({ role, content: role }));
  expect(toHistory(said).map(({ role }) => role)).toEqual(['user', 'assistant']);
  expect(toHistory(said.slice(0, 2))).toEqual([]);
});
