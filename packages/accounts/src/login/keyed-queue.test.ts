import { createKeyedQueue } from './keyed-queue.ts';

const queue = (atOnceMax: number, waitingMax = 100) =>
  createKeyedQueue({ atOnceMax, waitingMax, refusal: () => new Error('the line is full') });

/** Work that lasts until the test ends it, and says whether it has begun. */
function work() {
  let end: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const state = { begun: false };
  const run = async (): Promise<string> => {
    state.begun = true;
    await ended;
    return 'done';
  };
  return { state, run, end: () => end() };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test('work of one key happens one after another, in the order of arrival', async () => {
  const stile = queue(4);
  const [first, second, other] = [work(), work(), work()];
  const firstDone = stile.run('a', first.run);
  const secondDone = stile.run('a', second.run);
  const otherDone = stile.run('b', other.run);
  await settled();
  expect([first.state.begun, second.state.begun, other.state.begun]).toEqual([true, false, true]);
  first.end();
  expect(await firstDone).toBe('done');
  await settled();
  expect(second.state.begun).toBe(true);
  second.end();
  other.end();
  await Promise.all([secondDone, otherDone]);
});

test('only so much happens at once, and a key that waits for itself does not hold up the others', async () => {
  const stile = queue(2);
  const works = [work(), work(), work(), work()];
  const keys = ['a', 'a', 'b', 'c'];
  const all = works.map(({ run }, index) => stile.run(keys[index] ?? '', run));
  await settled();
  expect(works.map(({ state }) => state.begun)).toEqual([true, false, true, false]);
  works[2]?.end();
  await all[2];
  await settled();
  expect(works.map(({ state }) => state.begun)).toEqual([true, false, true, true]);
  for (const { end } of works) end();
  expect(await Promise.all(all)).toEqual(['done', 'done', 'done', 'done']);
});

test('failed work frees its slot like any other', async () => {
  const stile = queue(1);
  const failing = stile.run('a', () => Promise.reject(new Error('broken')));
  const next = stile.run('a', () => Promise.resolve('next'));
  await expect(failing).rejects.toThrow('broken');
  expect(await next).toBe('next');
});

test('who finds the line full is refused at once', async () => {
  const stile = queue(1, 1);
  const [first, second] = [work(), work()];
  const all = [stile.run('a', first.run), stile.run('b', second.run)];
  await expect(stile.run('c', () => Promise.resolve())).rejects.toThrow('the line is full');
  first.end();
  second.end();
  await Promise.all(all);
});
