import type { AnswerPart } from '@model-gateway/contracts';
import type { Window } from './call.ts';
import { HeldAnswer } from './held-answer.ts';

const part = (text: string): AnswerPart => ({ events: [{ type: 'text', text }] });
const [one, two, three] = [part('one'), part('two'), part('three')];

/** Keeps so many parts back. */
const keeping = (count: number): Window => ({
  look: async (held) => Math.max(0, held.length - count),
});

test('the window that holds most decides, and after the last part all are free', async () => {
  const held = new HeldAnswer([keeping(0), keeping(2)]);
  expect(await held.next([one])).toEqual([]);
  expect(await held.next([two, three])).toEqual([one]);
  expect(await held.next([], true)).toEqual([two, three]);
});

test('what a window refuses goes to no client', async () => {
  const refusing: Window = {
    look: () => Promise.reject(new Error('no')),
  };
  await expect(new HeldAnswer([keeping(0), refusing]).next([one])).rejects.toThrow('no');
});
