import { createFairQueue } from './fair-queue.ts';

const queue = (atOnceMax: number, waitingMax = 100) =>
  createFairQueue({ atOnceMax, waitingMax, refusal: () => new Error('the line is full') });

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
  const line = queue(4);
  const [first, second, other] = [work(), work(), work()];
  const firstDone = line.run('a', first.run);
  const secondDone = line.run('a', second.run);
  const otherDone = line.run('b', other.run);
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
  const line = queue(2);
  const works = [work(), work(), work(), work()];
  const keys = ['a', 'a', 'b', 'c'];
  const all = works.map(({ run }, index) => line.run(keys[index] ?? '', run));
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
  const line = queue(1);
  const failing = line.run('a', () => Promise.reject(new Error('broken')));
  const next = line.run('a', () => Promise.resolve('next'));
  await expect(failing).rejects.toThrow('broken');
  expect(await next).toBe('next');
});

test('who finds the line full is refused at once', async () => {
  const line = queue(1, 1);
  const [first, second] = [work(), work()];
  const all = [line.run('a', first.run), line.run('b', second.run)];
  await expect(line.run('c', () => Promise.resolve())).rejects.toThrow('the line is full');
  first.end();
  second.end();
  await Promise.all(all);
});

test('the keys that wait are served in turn, however much one of them wants', async () => {
  const line = queue(1);
  const served: string[] = [];
  const hold = work();
  const held = line.run('first', hold.run);
  const serve = (key: string) =>
    line.run(key, async () => {
      served.push(key);
    });
  const all = ['a', 'a', 'a', 'a', 'b', 'b', 'c'].map(serve);
  hold.end();
  await Promise.all([held, ...all]);
  expect(served.join('')).toBe('abcabaa');
});

test('a key may have several tasks at once, and leaves room for the others', async () => {
  const line = createFairQueue({
    atOnceMax: 3,
    atOncePerKeyMax: 2,
    waitingMax: 10,
    refusal: () => new Error('full'),
  });
  const works = [work(), work(), work(), work()];
  const keys = ['a', 'a', 'a', 'b'];
  const all = works.map(({ run }, index) => line.run(keys[index] ?? '', run));
  await settled();
  expect(works.map(({ state }) => state.begun)).toEqual([true, true, false, true]);
  for (const { end } of works) end();
  await Promise.all(all);
});

test('a task that waits too long is refused, and the others keep their turn', async () => {
  const line = createFairQueue({
    atOnceMax: 1,
    waitingMax: 10,
    waitMsMax: 20,
    refusal: () => new Error('waited too long'),
  });
  const slow = work();
  const running = line.run('a', slow.run);
  await expect(line.run('a', () => Promise.resolve())).rejects.toThrow('waited too long');
  const next = line.run('b', () => Promise.resolve('served'));
  slow.end();
  expect(await next).toBe('served');
  await running;
});
