import { RpcCallError } from '@model-gateway/client';
import { streamError } from './chat-turn.ts';
import { chatOf, keptText, NO_CHAT } from './kept-chat.ts';
import type { Turn } from './use-chat.ts';

const USER = 'ada';
const IMAGE = `data:image/png;base64,${'A'.repeat(1000)}`;

const turn = (id: number, fields: Partial<Turn> = {}): Turn => ({
  id,
  question: `Question ${id}?`,
  images: [],
  answer: `Answer ${id}.`,
  model: 'm',
  refId: `console-${id}`,
  toolCalls: [],
  state: 'done',
  ...fields,
});
const chat = (...turns: readonly Turn[]) => ({ turns, besideTurns: [] });

test('a chat comes back as it was', () => {
  const kept = { ...chat(turn(1, { images: [IMAGE] })), beside: 'n', besideTurns: [turn(2)] };
  expect(chatOf(USER, keptText(USER, kept))).toEqual(kept);
});

test.each([
  { why: 'nothing was kept', text: null },
  { why: 'it is of another person', text: keptText('bob', chat(turn(1))) },
  { why: 'it is of another version', text: JSON.stringify({ userId: USER, turns: [{ id: 1 }] }) },
  { why: 'it is no JSON', text: '{' },
])('there is no chat where $why', ({ text }) => {
  expect(chatOf(USER, text)).toEqual({ ...NO_CHAT });
});

test('a turn that was running is stopped, with what was answered', () => {
  const text = keptText(USER, chat(turn(1, { state: 'running', answer: 'One tw' })));
  expect(chatOf(USER, text).turns).toEqual([turn(1, { state: 'stopped', answer: 'One tw' })]);
});

test.each([
  { kind: 'a failure of the model', status: 500 },
  { kind: 'a refusal', status: 400 },
])('$kind comes back as such', ({ status }) => {
  const error = streamError(-32_000, 'upstream: no', { upstream: { status } });
  const text = keptText(USER, chat(turn(1, { state: 'failed', error })));
  const [shown] = chatOf(USER, text).turns;
  expect(shown?.error).toEqual(error);
  expect(shown?.error?.constructor).toBe(error.constructor);
  expect(shown?.error).toBeInstanceOf(RpcCallError);
});

test('a chat that is too long loses its images, then its oldest turns', () => {
  const long = chat(turn(1, { images: [IMAGE] }), turn(2), turn(3), turn(4));
  const [whole, bare] = [
    keptText(USER, long),
    keptText(USER, chat(turn(1), turn(2), turn(3), turn(4))),
  ];
  const kept = (charsMax: number) => chatOf(USER, keptText(USER, long, charsMax)).turns;
  expect(kept(whole.length)).toEqual(long.turns);
  expect(kept(whole.length - 1)).toEqual([turn(1), turn(2), turn(3), turn(4)]);
  expect(kept(bare.length - 1)).toEqual([turn(3), turn(4)]);
  expect(kept(0)).toEqual([]);
});
