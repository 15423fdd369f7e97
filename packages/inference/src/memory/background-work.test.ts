import { createBackgroundWork } from './background-work.ts';

/** Work that ends when the test says so. */
function pieces() {
  const started: string[] = [];
  const ends = new Map<string, () => void>();
  return {
    started,
    piece: (name: string) => () => {
      started.push(name);
      return new Promise<void>((resolve) => {
        ends.set(name, resolve);
      });
    },
    end: async (name: string) => {
      ends.get(name)?.();
      await new Promise(setImmediate);
    },
  };
}

test('a few run at once, a few wait in order, and no more is taken', async () => {
  const { started, piece, end } = pieces();
  const work = createBackgroundWork({ atOnceMax: 2, waitingMax: 2 });
  const names = ['a', 'b', 'c', 'd', 'e'];
  expect(names.map((name) => work.add(piece(name)))).toEqual([true, true, true, true, false]);
  expect(started).toEqual(['a', 'b']);
  await end('b');
  expect(started).toEqual(['a', 'b', 'c']);
  expect(work.add(piece('f'))).toBe(true);
  await end('a');
  await end('c');
  expect(started).toEqual(['a', 'b', 'c', 'd', 'f']);
  let isIdle = false;
  const idle = work.idle().then(() => (isIdle = true));
  await end('d');
  expect(isIdle).toBe(false);
  await end('f');
  await idle;
});

test('nothing to do is done at once', async () => {
  await createBackgroundWork({ atOnceMax: 1, waitingMax: 1 }).idle();
});
