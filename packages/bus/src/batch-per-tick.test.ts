import { createBatchPerTick } from './batch-per-tick.ts';

function counting(atOnceMax: number) {
  const asked: (readonly number[])[] = [];
  const runBatch = createBatchPerTick(async (items: readonly number[]) => {
    asked.push(items);
    if (items.includes(13)) throw new Error('no luck');
  }, atOnceMax);
  return { asked, runBatch };
}

test('calls of one turn run together', async () => {
  const { asked, runBatch } = counting(100);
  await Promise.all([1, 2, 3].map((item) => runBatch(item)));
  await runBatch(4);
  expect(asked).toEqual([[1], [2, 3], [4]]);
});

test('the first of a crowd waits for the others as long as there is one', async () => {
  const { asked, runBatch } = counting(100);
  const crowd = () => Promise.all([1, 2, 3].map((item) => runBatch(item)));
  await crowd();
  await crowd();
  expect(asked).toEqual([[1], [2, 3], [1, 2, 3]]);
});

test('a single call runs at once', () => {
  const { asked, runBatch } = counting(100);
  void runBatch(1);
  expect(asked).toEqual([[1]]);
});

test('so many at once and no more', async () => {
  const { asked, runBatch } = counting(2);
  await Promise.all([1, 2, 3, 4, 5].map((item) => runBatch(item)));
  expect(asked).toEqual([[1], [2, 3], [4, 5]]);
});

test('a failure fails the whole batch, and no later call', async () => {
  const { runBatch } = counting(100);
  const failing = await Promise.allSettled([runBatch(0), runBatch(1), runBatch(13)]);
  expect(failing.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected']);
  await runBatch(1);
});
