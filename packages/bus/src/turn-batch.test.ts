import { createTurnBatch } from './turn-batch.ts';

function counting(atOnceMax: number) {
  const asked: (readonly number[])[] = [];
  const ask = createTurnBatch(async (questions: readonly number[]) => {
    asked.push(questions);
    if (questions.includes(13)) throw new Error('no luck');
    return questions.map((question) => question * 2);
  }, atOnceMax);
  return { asked, ask };
}

test('what is asked in one turn is asked together, and each has its own answer', async () => {
  const { asked, ask } = counting(100);
  expect(await Promise.all([1, 2, 3].map((question) => ask(question)))).toEqual([2, 4, 6]);
  expect(await ask(4)).toBe(8);
  expect(asked).toEqual([[1], [2, 3], [4]]);
});

test('the first of a crowd waits for the others as long as there is one', async () => {
  const { asked, ask } = counting(100);
  const crowd = () => Promise.all([1, 2, 3].map((question) => ask(question)));
  await crowd();
  expect(await crowd()).toEqual([2, 4, 6]);
  expect(asked).toEqual([[1], [2, 3], [1, 2, 3]]);
});

test('one that comes alone is asked at once', () => {
  const { asked, ask } = counting(100);
  void ask(1);
  expect(asked).toEqual([[1]]);
});

test('so many at once and no more', async () => {
  const { asked, ask } = counting(2);
  expect(await Promise.all([1, 2, 3, 4, 5].map((question) => ask(question)))).toEqual([
    2, 4, 6, 8, 10,
  ]);
  expect(asked).toEqual([[1], [2, 3], [4, 5]]);
});

test('a failure is that of all who asked together, and of nobody after them', async () => {
  const { ask } = counting(100);
  const failing = await Promise.allSettled([ask(0), ask(1), ask(13)]);
  expect(failing.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected']);
  expect(await ask(1)).toBe(2);
});
